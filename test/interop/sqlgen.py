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
    ("u", "unsigned", "BIGINT UNSIGNED"),
    ("w", "wide", "DECIMAL(65,30)"),
    ("o", "json", "JSON"),
    ("e", "enum", "ENUM('small','large','Big')"),
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
    "u": [0, 1, 2, 3, 10, 9007199254740993, 9223372036854775807, 9223372036854775808, 18446744073709551615],
    "w": [D("0"), D("1.5"), D("-0.000000000000000000000000000001"), D("0.1"), D("12345678901234567890123456789012345.123456789012345678901234567891"),
          D("99999999999999999999999999999999999.999999999999999999999999999999"), D("-99999999999999999999999999999999999"), D("2")],
    "e": ["small", "large", "Big"],
    "o": [{"a": 1, "s": "x"}, {"a": 2, "s": "red", "b": {"c": [1, 2, 3]}}, {"a": 9007199254740993}, {"a": None, "s": ""}, {}, {"a": -5, "s": "ä", "b": {"c": []}}],
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
    if family == "unsigned":
        return str(r.choice(POOL["u"]))
    if family == "wide":
        return format(r.choice(POOL["w"]), "f")
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
        kind = r.randrange(24)
        if kind >= 9:
            return self.more_number(alias, depth, kind)
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

    def more_number(self, alias, depth, kind):
        r = self.r
        if kind == 9:
            return f"{self.pick('GREATEST', 'LEAST')}({self.small(alias, 1)}, {self.small(alias, 0)}, {self.small(alias, 0)})", "dec"
        if kind == 10:
            return f"INSTR({self.text(alias, depth - 1)}, {literal(r, 'text')})", "int"
        if kind == 11:
            return f"CAST({self.column(self.pick('dec', 'text', 'int'), alias)} AS SIGNED)", "int"
        if kind == 12:
            return f"CAST({self.small(alias, 1)} AS DECIMAL({self.pick('10,1', '20,4', '12,0')}))", "dec"
        if kind == 13:
            return f"{self.pick('ROUND', 'TRUNCATE')}({self.column('dec', alias)}, {self.pick('0', '1', '-1')})", "dec"
        if kind == 14:
            return f"{self.pick('FLOOR', 'CEIL', 'SIGN')}({self.small(alias, 1)})", "int"
        if kind == 15:
            return f"DATEDIFF({self.column(self.pick('date', 'time'), alias)}, {self.pick(self.column('date', alias), literal(r, 'date'))})", "int"
        if kind == 16:
            return f"TIMESTAMPDIFF({self.pick('SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR')}, {self.column('time', alias)}, {self.when(alias, 1)})", "int"
        if kind == 17:
            return f"{self.pick('DAYOFWEEK', 'WEEKDAY', 'QUARTER', 'TO_DAYS', 'SECOND', 'MICROSECOND')}({self.column('time', alias)})", "int"
        if kind == 20:
            t = self.column(self.pick("time", "date"), alias)
            return self.pick(f"WEEK({t})", f"WEEK({t}, {r.randrange(8)})", f"YEARWEEK({t})", f"YEARWEEK({t}, 1)", f"EXTRACT({self.pick('YEAR_MONTH', 'HOUR', 'DAY', 'QUARTER', 'WEEK')} FROM {t})",
                             f"UNIX_TIMESTAMP({self.column('date', alias)})"), "int"
        if kind == 21:
            o = self.column("json", alias)
            return self.pick(f"JSON_LENGTH({o})", f"JSON_LENGTH({o}, '$.b.c')", f"JSON_CONTAINS_PATH({o}, 'one', '$.a', '$.b')", f"JSON_CONTAINS_PATH({o}, 'all', '$.a', '$.b')",
                             f"JSON_VALID({self.column('text', alias)})", f"JSON_DEPTH({o})"), "int"
        if kind == 22:
            return f"CASE {self.column('int', alias)} WHEN {literal(r, 'int')} THEN {self.small(alias, 0)} WHEN {self.small(alias, 0)} THEN {self.small(alias, 0)} END", "dec"
        if kind == 23:
            # Not a decimal as UNSIGNED: MariaDB makes 0 of negative ones.
            return self.pick(f"CAST({self.column(self.pick('unsigned', 'wide', 'bool'), alias)} AS SIGNED) % 1000", f"CAST({self.column(self.pick('unsigned', 'bool'), alias)} AS UNSIGNED) % 1000"), "int"
        if kind == 18:
            return f"CAST(JSON_UNQUOTE(JSON_EXTRACT({self.column('json', alias)}, '$.a')) AS SIGNED)", "int"
        return f"NULLIF({self.column('int', alias)}, {literal(r, 'int')})", "int"

    def when(self, alias, depth):
        """A date and time."""
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            return self.column("time", alias)
        n = self.pick(str(r.randrange(-40, 40)), self.column("bool", alias), "`j`" if not alias else alias + ".`j`")
        unit = self.pick("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
        return self.pick(f"({self.when(alias, depth - 1)} {self.pick('+', '-')} INTERVAL {n} {unit})", f"DATE_ADD({self.when(alias, depth - 1)}, INTERVAL {n} {unit})",
                         f"LAST_DAY({self.when(alias, depth - 1)})", f"CAST({self.when(alias, depth - 1)} AS DATE)")

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
        kind = r.randrange(20)
        if kind >= 5:
            return self.more_text(alias, depth, kind)
        if kind == 0:
            return f"CONCAT({self.text(alias, depth - 1)}, '-', {self.text(alias, 0)})"
        if kind == 1:
            return f"{self.pick('LOWER', 'UPPER')}({self.column('text', alias)})"
        if kind == 2:
            return f"SUBSTRING({self.text(alias, depth - 1)}, {self.pick('1', '2', '-2')}, {self.pick('1', '2', '3')})"
        if kind == 3:
            return f"IF({self.condition(alias, depth - 1)}, {self.text(alias, 0)}, {literal(r, 'text')})"
        return f"COALESCE({self.text(alias, 0)}, {literal(r, 'text')})"

    def more_text(self, alias, depth, kind):
        r, t = self.r, self.text(alias, depth - 1)
        if kind == 17:
            return self.pick(lambda: f"CONCAT({self.column('enum', alias)}, {quote('-')}, {t})", lambda: f"UPPER({self.column('enum', alias)})",
                             lambda: f"COALESCE({self.column('enum', alias)}, {t})", lambda: f"CASE {self.column('int', alias)} WHEN {literal(r, 'int')} THEN {t} WHEN 3 THEN {self.column('enum', alias)} ELSE {literal(r, 'text')} END")()
        if kind == 18:
            return f"{self.pick('DAYNAME', 'MONTHNAME')}({self.column(self.pick('time', 'date'), alias)})"
        if kind == 19:
            return f"JSON_UNQUOTE(JSON_EXTRACT({self.column('json', alias)}, '{self.pick('$.b.c[0]', '$.b.c[2]', '$.a', '$.nothing')}'))"
        if kind == 5:
            return f"{self.pick('TRIM', 'LTRIM', 'RTRIM', 'REVERSE')}({t})"
        if kind == 6:
            return f"TRIM({self.pick('LEADING', 'TRAILING', 'BOTH')} {literal(r, 'text')} FROM {t})"
        if kind == 7:
            # Not NULL for what replaces: MariaDB gives the text where there is nothing to replace.
            return f"REPLACE({t}, {self.pick(quote('a'), quote('re'), quote('k'), literal(r, 'text'))}, {quote(r.choice(POOL['s']))})"
        if kind == 8:
            return f"{self.pick('LPAD', 'RPAD')}({t}, {self.pick('0', '1', '3', '8', '-1')}, {self.pick(quote('*'), quote('xy'), quote('ä'))})"
        if kind == 9:
            return f"{self.pick('LEFT', 'RIGHT')}({t}, {self.pick('0', '1', '2', '-1', '50')})"
        if kind == 10:
            return f"REPEAT({t}, {self.pick('0', '1', '2', '-1')})"
        if kind == 11:
            return f"CAST({self.column(self.pick('int', 'dec', 'date', 'time', 'unsigned', 'wide'), alias)} AS CHAR)"
        if kind == 12:
            fmt = self.pick("%Y-%m-%d", "%d.%m.%y %H:%i:%s", "%W %M %e %Y", "%j %U %u %V %v %X %x", "%h:%i %p", "%T.%f", "%a %b %D", "%c/%e %k %l %r", "%%%Y")
            return f"DATE_FORMAT({self.when(alias, 1)}, '{fmt}')"
        if kind == 13:
            return f"CONCAT_WS({quote('-')}, {t}, {self.column('text', alias)}, {self.column('int', alias)})"
        if kind == 14:
            return f"SUBSTRING_INDEX({t}, {self.pick(quote(' '), quote('e'), quote('-'))}, {self.pick('1', '-1', '2', '0')})"
        if kind == 15:
            # Not HEX and MD5: MariaDB compares these without regard to case.
            return f"CONCAT('', {t})"
        return f"JSON_UNQUOTE(JSON_EXTRACT({self.column('json', alias)}, '$.s'))"

    def condition(self, alias, depth):
        r = self.r
        if depth > 0 and r.random() < 0.5:
            a, b = self.condition(alias, depth - 1), self.condition(alias, depth - 1)
            return self.pick(f"({a} AND {b})", f"({a} OR {b})", f"(NOT {a})", f"({a} XOR {b})")
        kind = r.randrange(21)
        if kind >= 11:
            return self.more_condition(alias, depth, kind)
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

    def more_condition(self, alias, depth, kind):
        r = self.r
        op = self.pick("=", "<>", "<", "<=", ">", ">=", "<=>")
        if kind == 17:
            mark = self.pick("|", "!", "#")
            pattern = self.pick("x|_y", "50|%", "%|%%", "|__", "a%", "%|_%").replace("|", mark)
            return f"({self.text(alias, 0)} {self.pick('', 'NOT ')}LIKE '{pattern}' ESCAPE '{mark}')"
        if kind == 18:
            family = self.pick("int", "dec", "unsigned", "wide")
            items = ", ".join(literal(r, self.pick("int", "dec", "bool", family)) for _ in range(r.randrange(1, 5)))
            return f"({self.column(family, alias)} {self.pick('', 'NOT ')}IN ({items}))"
        if kind == 19:
            a, b = self.pick("int", "dec", "wide"), self.pick("int", "dec", "wide")
            return f"({self.column(self.pick('int', 'dec', 'wide', 'unsigned'), alias)} {self.pick('', 'NOT ')}BETWEEN {self.pick(self.column(a, alias), literal(r, a))} AND {self.pick(self.column(b, alias), literal(r, b))})"
        if kind == 20:
            return self.pick(f"({self.column('enum', alias)} {self.pick('=', '<>', '<=>')} {quote(r.choice(POOL['e']))})", f"({self.column('enum', alias)} {self.pick('', 'NOT ')}IN ('small', 'Big'))",
                             f"({self.column('enum', alias)} LIKE '%{self.pick('a', 'B', 'g')}%')", f"({self.column('dec', alias)} {op} {self.column('wide', alias)})")
        if kind == 11:
            family = self.pick("unsigned", "wide", "unsigned", "int")
            return f"({self.column(family, alias)} {op} {literal(r, self.pick(family, family, 'int', 'dec'))})"
        if kind == 12:
            return f"({self.when(alias, depth)} {op} {self.pick(literal(r, 'time'), literal(r, 'date'), self.column('time', alias))})"
        if kind == 13:
            return f"({self.column(self.pick('int', 'bool', 'dec'), alias)} IS {self.pick('', 'NOT ')}{self.pick('TRUE', 'FALSE')})"
        if kind == 14:
            a, b = self.column("int", alias), self.column("text", alias)
            items = ", ".join(f"({literal(r, 'int')}, {literal(r, 'text')})" for _ in range(r.randrange(1, 4)))
            return self.pick(f"(({a}, {b}) {self.pick('', 'NOT ')}IN ({items}))", f"(({a}, {b}) = ({literal(r, 'int')}, {literal(r, 'text')}))")
        if kind == 15:
            return f"({self.column('text', alias)} {self.pick('', 'NOT ')}REGEXP {self.pick(quote('^r'), quote('e+'), quote('[ab]$'), quote('k1.'), quote('x|y'), quote('^$'))})"
        family = self.pick("int", "dec", "date", "text")
        return f"({self.column(family, alias)} {self.pick('', 'NOT ')}BETWEEN {self.column(family, alias)} AND {self.pick(self.column(family, alias), literal(r, family))})"

    def where(self, alias, depth=2):
        return f" WHERE {self.condition(alias, depth)}" if self.r.random() < 0.7 else ""

    def aggregate(self, alias):
        r = self.r
        kind = r.randrange(18)
        if kind >= 12:
            return self.more_aggregate(alias, kind)
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

    def more_aggregate(self, alias, kind):
        if kind == 12:
            return f"{self.pick('STDDEV', 'STDDEV_SAMP', 'VARIANCE', 'VAR_SAMP')}({self.column(self.pick('int', 'dec', 'bool'), alias)} % 1000 + 0e0)"
        if kind == 13:
            c = self.column(self.pick("text", "int", "date"), alias)
            return f"GROUP_CONCAT({self.pick('', 'DISTINCT ')}{c} ORDER BY {c}{self.pick('', ' DESC')}{self.pick('', ' SEPARATOR ' + quote('|'))})"
        if kind == 14:
            return f"{self.pick('SUM', 'AVG', 'COUNT', 'MIN')}(DISTINCT {self.column(self.pick('int', 'dec'), alias)})"
        if kind == 15:
            return f"COUNT(DISTINCT {self.column('text', alias)}, {self.column('int', alias)})"
        if kind == 16:
            return f"{self.pick('BIT_AND', 'BIT_OR', 'BIT_XOR')}({self.column(self.pick('bool', 'unsigned'), alias)})"
        return f"{self.pick('MIN', 'MAX', 'COUNT')}({self.column(self.pick('unsigned', 'wide'), alias)})"

    def key(self, alias):
        return self.pick(lambda: self.column("text", alias), lambda: self.column("int", alias), lambda: self.column("bool", alias),
                         lambda: self.column("date", alias), lambda: f"{self.column('int', alias)} DIV {self.pick('2', '10', '60')}",
                         lambda: f"YEAR({self.column('time', alias)})", lambda: f"DATE_FORMAT({self.column('time', alias)}, '%Y-%m-%d %H')",
                         lambda: f"DATE({self.column('time', alias)})", lambda: f"SUBSTRING({self.column('text', alias)}, 1, 1)",
                         lambda: self.column("dec", alias), lambda: self.column("enum", alias), lambda: f"IF({self.condition(alias, 1)}, 'yes', 'no')")()

    # Statements: (SQL, ordered).

    def query(self):
        shapes = [self.rows, self.rows, self.top, self.total, self.groups, self.groups, self.groups, self.distinct, self.join, self.join_groups,
                  self.subquery, self.derived, self.union, self.window, self.top_groups, self.having, self.outer, self.correlated, self.three, self.cte,
                  self.set_operation, self.nested, self.frames, self.ratios, self.by_alias, self.group_positions, self.using, self.cases, self.inner_aggregates]
        return self.r.choice(shapes)()

    def columns(self, alias, depth=2):
        out = []
        for _ in range(self.r.randrange(1, 4)):
            out.append(self.pick(lambda: self.number(alias, depth)[0], lambda: self.text(alias, depth), lambda: self.condition(alias, 1),
                                 lambda: self.column(self.pick("date", "time", "int", "text", "dec", "float"), alias))())
        return out

    def ratio(self, alias):
        """A quotient, which has its digits only where it stands for itself or in arithmetic."""
        a, b = self.small(alias, 1), self.small(alias, 0)
        return self.pick(f"{a} / {b}", f"{a} / {b} * 100", f"100 * {a} / {b}", f"{a} / NULLIF({b}, 0) + 1", f"{a} / 3 / 7", f"-({a} / {b})")

    def ratio_of_aggregates(self, alias):
        c = self.column(self.pick("int", "bool"), alias)
        return self.pick(f"AVG({self.small(alias, 0)}) * 100", f"100 * AVG({c} % 7)", f"SUM({self.small(alias, 0)}) / COUNT(*)", f"SUM({self.small(alias, 0)}) / NULLIF(COUNT({c}), 0) * 100",
                         f"COUNT({c}) / COUNT(*) * 100", f"AVG({self.small(alias, 0)}) - AVG({self.small(alias, 0)})", f"SUM({self.column('bool', alias)}) * 100 / COUNT(*)")

    def ratios(self):
        t = self.r.choice(self.names)
        if self.r.random() < 0.5:
            return f"SELECT {self.ratio('')}, {self.ratio('')} FROM {t}{self.where('', 1)}", False
        return f"SELECT {self.key('')} AS k, {self.ratio_of_aggregates('')} AS p, {self.ratio_of_aggregates('')} FROM {t}{self.where('', 1)} GROUP BY k", False

    def by_alias(self):
        """ORDER BY positions, aliases and expressions of aliases, with a total order at the end."""
        t = self.r.choice(self.names)
        x, y = self.number("", 1)[0], self.text("", 1)
        keys = self.pick("x", "x DESC", "1, 2 DESC", "x IS NULL, x", "-x", "y, x", "ABS(x), 2", "CHAR_LENGTH(y) DESC, y", "CASE WHEN x > 3 THEN 0 ELSE 1 END, x", "ISNULL(y), x + 0")
        return f"SELECT {x} AS x, {y} AS y, _partition, _offset FROM {t}{self.where('', 1)} ORDER BY {keys}, _partition, _offset{self.pick('', ' LIMIT 20', ' LIMIT 7 OFFSET 3')}", True

    def group_positions(self):
        t = self.r.choice(self.names)
        return (f"SELECT {self.key('')} AS k, {self.key('')} AS l, COUNT(*) AS c, {self.aggregate('')} FROM {t}{self.where('', 1)} GROUP BY 1, 2 "
                f"HAVING c {self.pick('>', '<', '<>')} {self.r.randrange(0, 12)} ORDER BY 3 DESC, k{self.pick('', ' DESC')}, 2"), False

    def using(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        cols = self.pick("j", "g", "j, g", "d", "n", "_offset", "j, b", "e")
        one = cols.split(", ")[0]
        return (f"SELECT {one}, COUNT(*), SUM(a._partition), COUNT(b.i), MAX({self.pick('a', 'b')}.s) FROM {a} a {self.pick('JOIN', 'LEFT JOIN', 'RIGHT JOIN')} {b} b USING ({cols})"
                f"{self.pick('', ' WHERE ' + self.condition('a', 1))} GROUP BY {one}"), False

    def cases(self):
        t = self.r.choice(self.names)
        c = self.column("int", "")
        return (f"SELECT CASE WHEN {self.condition('', 1)} THEN {self.text('', 0)} WHEN {self.condition('', 0)} THEN {literal(self.r, 'text')} END AS x, "
                f"COUNT(DISTINCT CASE WHEN {c} > 0 THEN g END), SUM(IF({self.condition('', 0)}, {self.small('', 0)}, NULL)), NULLIF(MAX({c}), {literal(self.r, 'int')}) FROM {t} GROUP BY x"), False

    def inner_aggregates(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        inner = f"SELECT g, {self.pick('d', 'b', 'j')} AS h, COUNT(*) AS c, {self.aggregate('')} AS v FROM {a}{self.where('', 1)} GROUP BY g, h"
        return self.pick(f"SELECT g, SUM(c), MAX(c), AVG(c) * 2 FROM ({inner}) x GROUP BY g", f"SELECT COUNT(*) FROM {b} b WHERE b.j IN (SELECT MAX(j) FROM {a} GROUP BY g HAVING COUNT(*) > {self.r.randrange(0, 9)})",
                         f"SELECT b.g, (SELECT COUNT(*) FROM ({inner}) y WHERE y.g = b.g) AS z, COUNT(*) FROM {b} b GROUP BY b.g",
                         f"SELECT MAX(x.c) - MIN(x.c), COUNT(DISTINCT x.h) FROM ({inner}) x JOIN ({inner}) y ON x.g = y.g AND x.h = y.h"), False

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

    def having(self):
        t = self.r.choice(self.names)
        n = self.r.randrange(-5, 40)
        cond = self.pick(f"COUNT(*) * 2 > {n}", f"SUM(j) + COUNT(i) {self.pick('<', '>')} {n}", f"MAX(j) - MIN(j) >= {n}", f"COUNT(DISTINCT g) IN (1, 2) AND MIN(i) < {n}",
                         f"AVG(n) > {n} OR k IS NULL", f"k > {literal(self.r, 'text')} AND COUNT(*) > 1", f"NOT (SUM(n) < {n})", f"CASE WHEN COUNT(*) > {n} THEN MAX(j) ELSE MIN(j) END > 3")
        return f"SELECT {self.key('')} AS k, {self.aggregate('')}, {self.aggregate('')} FROM {t}{self.where('')} GROUP BY k HAVING {cond}", False

    def outer(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        where = self.pick(f"b.{self.pick('i', 's', 'd')} IS {self.pick('', 'NOT ')}NULL", self.condition("b", 1), f"({self.condition('a', 0)} OR {self.condition('b', 0)})",
                          f"COALESCE(b.j, 0) > {self.r.randrange(-3, 5)}", f"a.j {self.pick('<', '=', '<>')} b.j")
        return (f"SELECT {self.pick('COUNT(*), SUM(a._offset), COUNT(b._offset), MAX(b.n)', 'a.g, COUNT(*), COUNT(b.s), SUM(b.n)')} FROM {a} a "
                f"{self.pick('LEFT', 'LEFT', 'RIGHT')} JOIN {b} b ON {self.on()} WHERE {where} GROUP BY a.g"), False

    def correlated(self):
        # The outer side is the small one: a correlated subquery runs once a row.
        b = self.r.choice(self.names)
        link = self.pick("b.g = a.g", "b.j = a.j", "b.d <= a.d", "b.i = a.i AND b.j > a.j", "b._offset = a._offset", "b.g <=> a.g")
        sub = self.pick(f"(SELECT {self.aggregate('b')} FROM {b} b WHERE {link}{self.pick('', ' AND ' + self.condition('b', 0))})",
                        f"(SELECT b.s FROM {b} b WHERE {link} ORDER BY b._partition, b._offset LIMIT 1)",
                        f"EXISTS (SELECT 1 FROM {b} b WHERE {link} AND {self.condition('b', 0)})",
                        f"(a.j {self.pick('', 'NOT ')}IN (SELECT b.j FROM {b} b WHERE {link}))")
        if self.r.random() < 0.5:
            return f"SELECT a._offset, {sub} FROM t2 a{self.where('a', 1)}", False
        return f"SELECT a._offset, a.g FROM t2 a WHERE {sub} IS {self.pick('', 'NOT ')}NULL{self.pick('', ' AND ' + self.condition('a', 1))}", False

    def three(self):
        a, c = self.r.choice(self.names), self.r.choice(self.names)
        return (f"SELECT {self.pick('', 'c.g, ')}COUNT(*), SUM(a.j), MIN(b.s), COUNT(c.i) FROM {a} a {self.pick('JOIN', 'LEFT JOIN')} t2 b ON a.j = b.j AND a.g = b.g "
                f"{self.pick('JOIN', 'LEFT JOIN')} {c} c ON {self.pick('b.i = c.i', 'b.d = c.d AND b.g = c.g', 'a._offset = c._offset', 'c.n = b.n AND c.s = a.s')} "
                f"WHERE {self.condition(self.pick('a', 'b', 'c'), 1)} GROUP BY c.g"), False

    def cte(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        key = self.column(self.pick("text", "int", "date"), "")
        with_ = f"WITH x AS (SELECT {key} AS k, COUNT(*) AS c, {self.aggregate('')} AS v FROM {a}{self.where('', 1)} GROUP BY k)"
        return self.pick(f"{with_} SELECT COUNT(*), SUM(c), MIN(k), MAX(c) FROM x", f"{with_} SELECT p.k, p.c, q.c FROM x p JOIN x q ON p.k = q.k WHERE p.c > {self.r.randrange(0, 5)}",
                         f"{with_}, y AS (SELECT c, COUNT(*) AS n FROM x GROUP BY c) SELECT x.k, y.n FROM x JOIN y ON x.c = y.c",
                         f"{with_} SELECT COUNT(*), SUM(j) FROM {b} WHERE {key} IN (SELECT k FROM x)"), False

    def set_operation(self):
        a, b = self.r.choice(self.names), self.r.choice(self.names)
        family = self.pick("int", "text", "date", "dec", "time")
        one = f"SELECT {self.column(family, '')} AS x, {self.column('bool', '')} AS y FROM {a}{self.where('', 1)}"
        two = f"SELECT {self.column(family, '')}, {self.column('bool', '')} FROM {b}{self.where('', 1)}"
        both = f"{one} {self.pick('INTERSECT', 'EXCEPT', 'UNION', 'UNION ALL')} {two}"
        return self.pick(both, f"SELECT y, COUNT(*), MIN(x), MAX(x) FROM ({both}) u GROUP BY y"), False

    def nested(self):
        t = self.r.choice(self.names)
        inner = f"SELECT {self.key('')} AS k, {self.number('', 1)[0]} AS v, {self.text('', 1)} AS s FROM {t}{self.where('', 1)}"
        if self.r.random() < 0.5:
            inner += f" ORDER BY _partition, _offset LIMIT {self.r.randrange(1, 200)}"
        middle = f"SELECT k, COUNT(*) AS c, SUM(v) AS v, MIN(s) AS s FROM ({inner}) i GROUP BY k"
        return self.pick(f"SELECT COUNT(*), SUM(c), SUM(v), MAX(s) FROM ({middle}) m WHERE c > {self.r.randrange(0, 4)}", f"SELECT * FROM ({middle}) m WHERE v IS NOT NULL AND c < 50",
                         f"SELECT c, COUNT(*) FROM ({middle}) m GROUP BY c HAVING COUNT(*) >= 1"), False

    def frames(self):
        t = self.r.choice(self.names)
        part = self.pick("", f"PARTITION BY {self.column(self.pick('text', 'bool', 'int'), '')} ")
        total = f"ORDER BY {self.column(self.pick('int', 'date', 'dec', 'text'), '')}{self.pick('', ' DESC')}, _partition, _offset"
        n, m = self.r.randrange(0, 5), self.r.randrange(0, 5)
        rows = self.pick(f"ROWS {n} PRECEDING", f"ROWS BETWEEN {n} PRECEDING AND {m} FOLLOWING", f"ROWS BETWEEN {n} FOLLOWING AND {n + m} FOLLOWING",
                         f"ROWS BETWEEN {n + m} PRECEDING AND {n} PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS UNBOUNDED PRECEDING",
                         "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
        func = self.pick("SUM(j)", "COUNT(*)", "COUNT(i)", "MIN(i)", "MAX(j)", "AVG(n)", "SUM(n)", "FIRST_VALUE(j)", "LAST_VALUE(i)", "NTH_VALUE(j, 2)", "MIN(n)", "MAX(d)", "STDDEV(j + 0e0)")
        kind = self.r.randrange(3)
        if kind == 0:
            return f"SELECT _partition, _offset, {func} OVER ({part}{total} {rows}), {func} OVER ({part}{total}) FROM {t}{self.where('', 1)}", False
        if kind == 1:
            by = self.pick("j", "j DESC", "n", "i", "_offset DESC")
            values = self.pick("", f"RANGE BETWEEN {n} PRECEDING AND {m} FOLLOWING", f"RANGE {n} PRECEDING", f"RANGE BETWEEN {n} FOLLOWING AND UNBOUNDED FOLLOWING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
            func = self.pick("SUM(j)", "COUNT(*)", "MIN(i)", "MAX(j)", "AVG(n)", "COUNT(s)", "MAX(n)")
            return f"SELECT _partition, _offset, {func} OVER ({part}ORDER BY {by} {values}) FROM {t}{self.where('', 1)}", False
        peers = self.pick("s", "g", "d", "n", "b, g", "j", "t")
        func = self.pick("RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "COUNT(*)", "SUM(j)", "MAX(n)", "MIN(s)")
        whole, digits = ("ROUND(", ", 6)") if func in ("PERCENT_RANK()", "CUME_DIST()") else ("", "")  # MariaDB gives ten digits
        return f"SELECT _partition, _offset, {whole}{func} OVER ({part}ORDER BY {peers}){digits}, NTILE({n + 1}) OVER ({part}{total}), LAG(s, {n}) OVER ({part}{total}), LEAD(j, {m}) OVER ({part}{total}) FROM {t}{self.where('', 1)}", False
