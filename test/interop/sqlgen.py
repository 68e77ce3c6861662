"""Random tables and queries in the dialect that Millrace and MariaDB share.

A Table has typed columns with nasty values. `Queries` draws statements whose answer is
determined: without ORDER BY they are compared as multisets, and LIMIT only stands behind an
order that is total.
"""
import decimal
import random

D = decimal.Decimal

# name, family, SQL type
COLUMNS = [
    ("i", "int", "BIGINT"),
    ("j", "int", "INT"),
    ("n", "dec", "DECIMAL(12,2)"),
    ("f", "float", "DOUBLE"),
    ("b", "bool", "TINYINT(1)"),
    ("s", "text", "VARCHAR(40)"),
    ("g", "text", "VARCHAR(10)"),
    ("d", "date", "DATE"),
    ("t", "time", "DATETIME(3)"),
]
FAMILY = {name: family for name, family, _ in COLUMNS} | {"_partition": "int", "_offset": "int"}

POOL = {
    "i": [-9007199254740993, -70000, -7, -2, -1, 0, 1, 2, 3, 5, 7, 9, 100, 65536, 5000000000, 9007199254740993],
    "j": [-100, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    "n": [D("-99999.99"), D("-1.50"), D("-0.01"), D("0.00"), D("0.01"), D("0.10"), D("1.00"), D("1.50"), D("2.25"), D("1234567.89")],
    "f": [-1.5, -0.25, 0.0, 0.1, 0.5, 1.0, 1.5, 2.5, 3.25, 1e10, 123456.789],
    "b": [0, 1],
    "s": ["", "a", "A", "a ", "ab", "abc", "b", "B", "ä", "zoo", "x_y", "50%", "😀", "hello world", "7"],
    "g": ["red", "green", "blue", "Red"],
    "d": ["2023-12-31", "2024-01-01", "2024-02-29", "2024-03-01", "2025-06-15"],
    "t": ["2023-12-31 23:59:59.999", "2024-01-01 00:00:00.000", "2024-01-01 00:00:59.500", "2024-02-29 12:34:56.789", "2025-06-15 06:00:00.000"],
}


def table(r, rows):
    """Rows as dicts; a member is absent where its value is None."""
    nulls = {name: r.choice([0, 0.1, 0.1, 0.4]) for name, _, _ in COLUMNS}
    out = []
    for _ in range(rows):
        row = {}
        for name, _, _ in COLUMNS:
            if r.random() < nulls[name]:
                row[name] = None
            elif name == "i" and r.random() < 0.3:
                row[name] = r.randrange(-50, 50)
            elif name == "s" and r.random() < 0.3:
                row[name] = "k%d" % r.randrange(200)
            else:
                row[name] = r.choice(POOL[name])
        out.append(row)
    return out


def literal(r, family):
    if r.random() < 0.06:
        return "NULL"
    if family == "int":
        return str(r.choice(POOL["i"] + POOL["j"] * 2))
    if family == "dec":
        return str(r.choice(POOL["n"]))
    if family == "float":
        return repr(r.choice([x for x in POOL["f"]])) + "e0"
    if family == "bool":
        return r.choice(["0", "1"])
    if family == "text":
        return quote(r.choice(POOL["s"] + POOL["g"] * 3))
    if family == "date":
        return quote(r.choice(POOL["d"]))
    return quote(r.choice(POOL["t"]))


def quote(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "''") + "'"


class Queries:
    """Draws queries over tables `names`, each with COLUMNS, _partition and _offset."""

    def __init__(self, r: random.Random, names):
        self.r, self.names = r, names

    def pick(self, *options):
        return self.r.choice(options)

    def column(self, family, alias):
        names = [n for n, f in FAMILY.items() if f == family]
        return (alias + "." if alias else "") + "`" + self.r.choice(names) + "`"

    # Expressions of a family.

    def number(self, alias, depth):
        """(text, family) of an integer or decimal expression."""
        r = self.r
        family = self.pick("int", "int", "dec")
        if depth <= 0 or r.random() < 0.45:
            return (self.column(family, alias) if r.random() < 0.8 else literal(r, family)), family
        kind = r.randrange(9)
        if kind <= 2:
            a, b = self.small(alias, depth - 1), self.small(alias, depth - 1)
            return f"({a} {self.pick('+', '-', '*')} {b})", "dec"
        if kind == 3:
            return f"({self.small(alias, depth - 1)} {self.pick('DIV', '%')} {self.pick('2', '3', '7', '60', '0', '-4')})", "int"
        if kind == 4:
            a, f = self.number(alias, depth - 1)
            return f"ABS({a})", f
        if kind == 5:
            return f"{self.pick('YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'DAYOFYEAR')}({self.column('time', alias)})", "int"
        if kind == 6:
            return f"{self.pick('LENGTH', 'CHAR_LENGTH')}({self.text(alias, depth - 1)})", "int"
        if kind == 7:
            return f"CASE WHEN {self.condition(alias, depth - 1)} THEN {self.small(alias, 0)} ELSE {self.small(alias, 0)} END", "dec"
        return f"{self.pick('COALESCE', 'IFNULL')}({self.column('int', alias)}, {literal(r, 'int')})", "int"

    def small(self, alias, depth):
        """A number that does not overflow when a few are multiplied."""
        if depth > 0 and self.r.random() < 0.4:
            return f"({self.small(alias, depth - 1)} {self.pick('+', '-')} {self.small(alias, depth - 1)})"
        p = alias + "." if alias else ""
        return self.pick(p + "`j`", p + "`n`", p + "`_offset`", p + "`b`", str(self.r.randrange(-5, 12)), "1.5", "0.25")

    def text(self, alias, depth):
        r = self.r
        if depth <= 0 or r.random() < 0.6:
            return self.column("text", alias)
        kind = r.randrange(5)
        if kind == 0:
            return f"CONCAT({self.text(alias, depth - 1)}, '-', {self.text(alias, 0)})"
        if kind == 1:
            return f"{self.pick('LOWER', 'UPPER')}({self.column('text', alias)})"
        if kind == 2:
            return f"SUBSTRING({self.text(alias, depth - 1)}, {self.pick('1', '2', '-2')}, {self.pick('1', '2', '3')})"
        if kind == 3:
            return f"IF({self.condition(alias, depth - 1)}, {self.text(alias, 0)}, {literal(r, 'text')})"
        return f"COALESCE({self.text(alias, 0)}, {literal(r, 'text')})"

    def condition(self, alias, depth):
        r = self.r
        if depth > 0 and r.random() < 0.5:
            a, b = self.condition(alias, depth - 1), self.condition(alias, depth - 1)
            return self.pick(f"({a} AND {b})", f"({a} OR {b})", f"(NOT {a})", f"({a} XOR {b})")
        kind = r.randrange(11)
        if kind == 0:
            return f"({self.column(self.pick('int', 'dec', 'text', 'date', 'time', 'bool', 'float'), alias)} IS {self.pick('', 'NOT ')}NULL)"
        if kind == 1:
            family = self.pick("int", "text", "dec", "date")
            items = ", ".join(literal(r, family) for _ in range(r.randrange(1, 5)))
            return f"({self.column(family, alias)} {self.pick('', 'NOT ')}IN ({items}))"
        if kind == 2:
            family = self.pick("int", "dec", "text", "date", "time")
            return f"({self.column(family, alias)} {self.pick('', 'NOT ')}BETWEEN {literal(r, family)} AND {literal(r, family)})"
        if kind == 3:
            pattern = self.pick("%a%", "a%", "%b", "%", "", "k1%", "_", "__", "%o w%", "x\\\\_y", "50\\\\%", "%ä%", "re_", "R%d")
            return f"({self.column('text', alias)} {self.pick('', 'NOT ')}LIKE '{pattern}')"
        op = self.pick("=", "<>", "<", "<=", ">", ">=", "<=>", "=")
        if kind == 4:
            a, _ = self.number(alias, depth)
            b, _ = self.number(alias, depth - 1)
            return f"({a} {op} {b})"
        if kind == 5:
            return f"({self.text(alias, depth)} {op} {literal(r, 'text')})"
        if kind == 6:
            return f"({self.column('float', alias)} {self.pick('<', '>', '<=', '>=')} {literal(r, self.pick('float', 'int'))})"
        family = self.pick("int", "int", "dec", "text", "date", "time", "bool")
        return f"({self.column(family, alias)} {op} {literal(r, family)})"

    def where(self, alias, depth=2):
        return f" WHERE {self.condition(alias, depth)}" if self.r.random() < 0.7 else ""

    def aggregate(self, alias):
        r = self.r
        kind = r.randrange(12)
        if kind <= 1:
            return "COUNT(*)"
        if kind == 2:
            return f"COUNT({self.column(self.pick('int', 'text', 'date', 'bool'), alias)})"
        if kind == 3:
            return f"COUNT(DISTINCT {self.column(self.pick('int', 'text', 'dec', 'date'), alias)})"
        if kind <= 6:
            return f"{self.pick('SUM', 'AVG')}({self.small(alias, 1)})"
        if kind <= 9:
            return f"{self.pick('MIN', 'MAX')}({self.column(self.pick('int', 'dec', 'text', 'date', 'time', 'float'), alias)})"
        if kind == 10:
            return f"SUM(CASE WHEN {self.condition(alias, 1)} THEN 1 ELSE 0 END)"
        return f"{self.pick('SUM', 'AVG')}({self.column(self.pick('int', 'dec', 'bool'), alias)})"

    def key(self, alias):
        return self.pick(lambda: self.column("text", alias), lambda: self.column("int", alias), lambda: self.column("bool", alias),
                         lambda: self.column("date", alias), lambda: f"{self.column('int', alias)} DIV {self.pick('2', '10', '60')}",
                         lambda: f"YEAR({self.column('time', alias)})", lambda: f"DATE_FORMAT({self.column('time', alias)}, '%Y-%m-%d %H')",
                         lambda: f"DATE({self.column('time', alias)})", lambda: f"SUBSTRING({self.column('text', alias)}, 1, 1)",
                         lambda: self.column("dec", alias), lambda: f"IF({self.condition(alias, 1)}, 'yes', 'no')")()

    # Statements: (SQL, ordered).

    def query(self):
        shapes = [self.rows, self.rows, self.top, self.total, self.groups, self.groups, self.groups, self.distinct, self.join, self.join_groups,
                  self.subquery, self.derived, self.union, self.window, self.top_groups]
        return self.r.choice(shapes)()

    def columns(self, alias, depth=2):
        out = []
        for _ in range(self.r.randrange(1, 4)):
            out.append(self.pick(lambda: self.number(alias, depth)[0], lambda: self.text(alias, depth), lambda: self.condition(alias, 1),
                                 lambda: self.column(self.pick("date", "time", "int", "text", "dec", "float"), alias))())
        return out

    def rows(self):
        t = self.r.choice(self.names)
        return f"SELECT {', '.join(self.columns(''))} FROM {t}{self.where('')}", False

    def top(self):
        t = self.r.choice(self.names)
        keys = [self.pick(lambda: self.column(self.pick("int", "text", "dec", "date", "time", "float"), ""), lambda: self.number("", 1)[0])()
                + self.pick("", " DESC") for _ in range(self.r.randrange(0, 3))]
        keys += ["_partition" + self.pick("", " DESC"), "_offset" + self.pick("", " DESC")]
        limit = self.pick("", f" LIMIT {self.r.randrange(0, 30)}", f" LIMIT {self.r.randrange(0, 30)} OFFSET {self.r.randrange(0, 20)}")
        return f"SELECT _partition, _offset, {', '.join(self.columns(''))} FROM {t}{self.where('')} ORDER BY {', '.join(keys)}{limit}", True

    def total(self):
        t = self.r.choice(self.names)
        return f"SELECT {', '.join(self.aggregate('') for _ in range(self.r.randrange(1, 4)))} FROM {t}{self.where('')}", False

    def groups(self):
        t = self.r.choice(self.names)
        keys = [self.key("") for _ in range(self.r.randrange(1, 3))]
        named = [f"{k} AS k{n}" for n, k in enumerate(keys)]
        by = ", ".join(f"k{n}" for n in range(len(keys)))
        having = ""
        if self.r.random() < 0.3:
            having = f" HAVING {self.pick('COUNT(*) > ' + str(self.r.randrange(0, 20)), 'SUM(j) IS NOT NULL', 'MAX(i) > 0', 'MIN(s) < ' + literal(self.r, 'text'))}"
        aggs = [self.aggregate("") for _ in range(self.r.randrange(1, 4))]
        return f"SELECT {', '.join(named + aggs)} FROM {t}{self.where('')} GROUP BY {by}{having}", False

    def top_groups(self):
        t = self.r.choice(self.names)
        return (f"SELECT {self.key('')} AS k, COUNT(*) AS c, {self.aggregate('')} FROM {t}{self.where('')} GROUP BY k "
                f"ORDER BY c{self.pick('', ' DESC')}, k{self.pick('', ' DESC')} LIMIT {self.r.randrange(1, 8)}"), True

    def distinct(self):
        t = self.r.choice(self.names)
        return f"SELECT DISTINCT {', '.join(self.key('') for _ in range(self.r.randrange(1, 3)))} FROM {t}{self.where('')}", False

    def on(self):
        family = self.pick("int", "int", "text", "date", "dec")
        cond = f"{self.column(family, 'a')} = {self.column(family, 'b')}"
        if self.r.random() < 0.3:
            cond += f" AND {self.condition(self.pick('a', 'b'), 1)}"
        return cond

    def join(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN")
        where = f" WHERE {self.condition(self.pick('a', 'b'), 1)}" if self.r.random() < 0.6 else ""
        return f"SELECT COUNT(*), SUM(a._offset), SUM(b._offset), MIN(b.s), COUNT(b.i) FROM {a} a {kind} {b} b ON {self.on()}{where}", False

    def join_groups(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        return f"SELECT {self.key('b')} AS k, COUNT(*), {self.aggregate('a')} FROM {a} a {self.pick('JOIN', 'LEFT JOIN')} {b} b ON {self.on()} GROUP BY k", False

    def subquery(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        family = self.pick("int", "text", "date")
        inner = f"SELECT {self.column(family, 'b')} FROM {b} b{self.where('b', 1)}"
        kind = self.r.randrange(4)
        if kind == 0:
            cond = f"{self.column(family, 'a')} {self.pick('', 'NOT ')}IN ({inner})"
        elif kind == 1:
            cond = f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {b} b WHERE {self.column(family, 'b')} = {self.column(family, 'a')})"
        elif kind == 2:
            cond = f"{self.column('int', 'a')} {self.pick('>', '<', '=')} (SELECT {self.pick('MAX', 'MIN')}(b.j) FROM {b} b{self.where('b', 1)})"
        else:
            cond = f"{self.column('dec', 'a')} > (SELECT AVG(b.n) FROM {b} b{self.where('b', 1)})"
        return f"SELECT COUNT(*), SUM(a.j), MIN(a.s) FROM {a} a WHERE {cond}", False

    def derived(self):
        t = self.r.choice(self.names)
        return (f"SELECT COUNT(*), SUM(c), MIN(k), MAX(k) FROM (SELECT {self.key('')} AS k, COUNT(*) AS c FROM {t}{self.where('')} GROUP BY k) x"
                f"{self.pick('', ' WHERE c > 3', ' WHERE k IS NOT NULL')}"), False

    def union(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        family = self.pick("int", "text")
        both = f"SELECT {self.column(family, '')} AS x FROM {a}{self.where('', 1)} UNION {self.pick('ALL', 'ALL', '')} SELECT {self.column(family, '')} FROM {b}{self.where('', 1)}"
        return self.pick(both, f"SELECT x, COUNT(*) FROM ({both}) u GROUP BY x"), False

    def window(self):
        t = self.r.choice(self.names)
        part = self.pick("", f"PARTITION BY {self.column(self.pick('text', 'bool', 'int'), '')} ")
        order = f"ORDER BY {self.column(self.pick('int', 'date', 'dec'), '')}{self.pick('', ' DESC')}, _partition, _offset"
        func = self.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "SUM(j)", "COUNT(*)", "LAG(j)", "LEAD(i)", "FIRST_VALUE(j)", "MAX(j)")
        return f"SELECT _partition, _offset, {func} OVER ({part}{order}) FROM {t}{self.where('', 1)}", False
