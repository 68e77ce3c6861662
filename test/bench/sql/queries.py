"""The questions, in each engine's words. {session} is a session id that occurs."""

# name, Millrace (MySQL), DuckDB, ClickHouse
CLICKS = [
    ("Q1 count", "SELECT COUNT(*) FROM clicks", None, None),
    ("Q2 sum, min, max, avg", "SELECT SUM(duration_ms), MIN(duration_ms), MAX(duration_ms), AVG(duration_ms) FROM clicks", None, None),
    ("Q3 range + sum", "SELECT COUNT(*), SUM(bytes) FROM clicks WHERE duration_ms BETWEEN 1000 AND 2000", None, None),
    ("Q4 string = const", "SELECT COUNT(*) FROM clicks WHERE country = 'CH'", None, None),
    ("Q5 LIKE %x%", "SELECT COUNT(*) FROM clicks WHERE page LIKE '%checkout/1%'", None, None),
    ("Q6 group by 8 strings", "SELECT event_type, COUNT(*), AVG(duration_ms) FROM clicks GROUP BY event_type ORDER BY event_type", None, None),
    ("Q7 group by 300 k ints", "SELECT user_id, COUNT(*) AS n, SUM(bytes) AS s FROM clicks GROUP BY user_id ORDER BY n DESC, user_id LIMIT 10", None, None),
    ("Q8 group by 1 M strings", "SELECT session_id, COUNT(*) AS n FROM clicks GROUP BY session_id ORDER BY n DESC, session_id LIMIT 10", None, None),
    ("Q9 minute windows", "SELECT ts DIV 60000 AS m, COUNT(*), AVG(duration_ms) FROM clicks GROUP BY m ORDER BY m",
     "SELECT ts // 60000 AS m, COUNT(*), AVG(duration_ms) FROM clicks GROUP BY m ORDER BY m",
     "SELECT intDiv(ts, 60000) AS m, COUNT(*), AVG(duration_ms) FROM clicks GROUP BY m ORDER BY m"),
    ("Q10 distinct ints", "SELECT COUNT(DISTINCT user_id) FROM clicks", None, None),
    ("Q11 distinct strings", "SELECT COUNT(DISTINCT session_id) FROM clicks", None, None),
    ("Q12 top 10", "SELECT ts, session_id, page, amount FROM clicks ORDER BY amount DESC, ts LIMIT 10", None, None),
    ("Q13 point lookup", "SELECT ts, page, event_type FROM clicks WHERE session_id = '{session}' ORDER BY ts", None, None),
    ("Q14 filter + two keys", "SELECT country, device, COUNT(*), SUM(bytes) FROM clicks WHERE event_type = 'purchase' AND status = 200 GROUP BY country, device ORDER BY country, device", None, None),
    ("Q15 join a small topic", "SELECT p.channel, COUNT(*), SUM(c.bytes) FROM clicks c JOIN campaigns p ON c.campaign = p.campaign GROUP BY p.channel ORDER BY p.channel", None, None),
]

_KIND = "kind = 'commit' AND {op} = 'create'"

# JSONBench's five questions; nested members are dotted columns.
BLUESKY = [
    ("J1 collections",
     "SELECT `commit.collection` AS event, COUNT(*) AS n FROM bluesky GROUP BY event ORDER BY n DESC, event", None, None),
    ("J2 distinct users each",
     "SELECT `commit.collection` AS event, COUNT(*) AS n, COUNT(DISTINCT did) AS users FROM bluesky WHERE kind = 'commit' AND `commit.operation` = 'create' GROUP BY event ORDER BY n DESC, event", None, None),
    ("J3 by hour of day",
     "SELECT `commit.collection` AS event, HOUR(FROM_UNIXTIME(time_us / 1000000)) AS h, COUNT(*) AS n FROM bluesky WHERE kind = 'commit' AND `commit.operation` = 'create' AND `commit.collection` IN ('app.bsky.feed.post','app.bsky.feed.repost','app.bsky.feed.like') GROUP BY event, h ORDER BY h, event",
     "SELECT \"commit.collection\" AS event, hour(make_timestamp(time_us)) AS h, COUNT(*) AS n FROM bluesky WHERE kind = 'commit' AND \"commit.operation\" = 'create' AND \"commit.collection\" IN ('app.bsky.feed.post','app.bsky.feed.repost','app.bsky.feed.like') GROUP BY event, h ORDER BY h, event",
     "SELECT `commit.collection` AS event, toHour(fromUnixTimestamp64Micro(time_us, 'UTC')) AS h, COUNT(*) AS n FROM bluesky WHERE kind = 'commit' AND `commit.operation` = 'create' AND `commit.collection` IN ('app.bsky.feed.post','app.bsky.feed.repost','app.bsky.feed.like') GROUP BY event, h ORDER BY h, event"),
    ("J4 first posts",
     "SELECT did, MIN(time_us) AS first FROM bluesky WHERE kind = 'commit' AND `commit.operation` = 'create' AND `commit.collection` = 'app.bsky.feed.post' GROUP BY did ORDER BY first, did LIMIT 3", None, None),
    ("J5 longest activity",
     "SELECT did, MAX(time_us) - MIN(time_us) AS span FROM bluesky WHERE kind = 'commit' AND `commit.operation` = 'create' AND `commit.collection` = 'app.bsky.feed.post' GROUP BY did ORDER BY span DESC, did LIMIT 3", None, None),
]

# Metadata and the last record, with a bound in ms instead of a peer.
QUICK = [
    ("last record", "SELECT _offset, ts, page FROM clicks WHERE _partition = 0 ORDER BY _offset DESC LIMIT 1", 2.0),
    ("COUNT(*)", "SELECT COUNT(*) FROM clicks", 2.0),
    ("MIN, MAX of a column", "SELECT MIN(ts), MAX(ts) FROM clicks", 2.0),
    ("point lookup", "SELECT ts, page, event_type FROM clicks WHERE session_id = '{session}'", 10.0),
]


def of(engine, query):
    """The query in an engine's words: DuckDB quotes names otherwise."""
    _, mysql, duck, click = query
    if engine == "duckdb":
        return duck or mysql.replace("`", '"')
    if engine == "clickhouse":
        return click or mysql
    return mysql
