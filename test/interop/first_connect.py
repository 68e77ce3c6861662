"""What BI tools ask a MySQL server before the user sees a table, told in our own words: the statements of one tool have the
shapes that its public sources or its users' published logs show (the order too), over topic `orders` of database `kafka`."""

# What Connector/J (DBeaver, DataGrip, Metabase before 2019, Spark) reads of every new connection.
CONNECTOR_J = [
    "/* mysql-connector-j */ SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client,"
    " @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results,"
    " @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection,"
    " @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license,"
    " @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout,"
    " @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone,"
    " @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
    "SET character_set_results = NULL",
    "SET autocommit=1",
    "SET SQL_SELECT_LIMIT=DEFAULT",
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION TRANSACTION READ WRITE",
]

# MariaDB's connectors (Metabase since 2019).
MARIADB_CONNECTOR = [
    "set autocommit=1, session_track_schema=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')",
    "SELECT @@max_allowed_packet, @@wait_timeout",
    "SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment",
]

METABASE = MARIADB_CONNECTOR + [
    "SELECT 1",
    "SELECT VERSION()",
    "SELECT @@GLOBAL.time_zone AS global_tz, @@system_time_zone AS system_tz,"
    " time_format(timediff(now(), convert_tz(now(), @@GLOBAL.time_zone, '+00:00')), '%H:%i') AS offset",
    "SELECT @@version_comment",
    "SET @@session.time_zone = 'Europe/Berlin'",
    "SET @@session.time_zone = '+00:00'",
    "SELECT CURRENT_USER()",
    "SHOW GRANTS FOR CURRENT_USER()",
    "SHOW GRANTS",
    "SHOW VARIABLES LIKE 'partial_revokes'",
    "SELECT c.column_name AS name, c.ordinal_position - 1 AS `database-position`, NULL AS `table-schema`, c.table_name AS `table-name`,"
    " IF(column_type = 'tinyint(1)', 'BIT', UPPER(c.data_type)) AS `database-type`, c.extra = 'auto_increment' AS `auto`,"
    " (column_default IS NULL OR LOWER(column_default) = 'null') AND is_nullable = 'NO' AND NOT (c.extra = 'auto_increment') AS required,"
    " c.column_key = 'PRI' AS pk, is_nullable = 'YES' AS nullable, IF(LOWER(column_default) = 'null', NULL, column_default) AS dflt,"
    " (generation_expression IS NOT NULL) AND (generation_expression <> '') AS made, NULLIF(c.column_comment, '') AS comment"
    " FROM information_schema.columns AS c WHERE c.table_schema NOT IN ('information_schema','performance_schema','sys','mysql')"
    " AND c.table_name NOT IN ('innodb_table_stats', 'innodb_index_stats') AND c.table_schema = 'kafka'"
    " AND LOWER(c.table_name) IN ('orders') ORDER BY c.table_name ASC, c.ordinal_position ASC",
    "SELECT NULL AS s, a.referenced_table_name, a.referenced_column_name, NULL AS t, a.table_name, a.column_name"
    " FROM information_schema.key_column_usage AS a INNER JOIN information_schema.table_constraints AS b"
    " USING (constraint_schema, constraint_name, table_name) WHERE b.constraint_type = 'FOREIGN KEY'"
    " AND a.referenced_table_schema IS NOT NULL ORDER BY a.table_name ASC",
    "SELECT TRUE FROM `kafka`.`orders` WHERE 1 <> 1 LIMIT 0",
    "SELECT `orders`.`_partition` AS `_partition`, SUBSTRING(`orders`.`city`, 1, 1234) AS `substring1`, `orders`.`amount` AS `amount`"
    " FROM `orders` LIMIT 10000",
    "SELECT COUNT(DISTINCT `orders`.`city`) AS `count` FROM `orders`",
    "SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`_timestamp`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `month`, SUM(`orders`.`amount`) AS `sum`"
    " FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`_timestamp`, '%Y-%m'), '-01'), '%Y-%m-%d')"
    " ORDER BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`_timestamp`, '%Y-%m'), '-01'), '%Y-%m-%d') ASC",
    "SELECT MAKEDATE(YEAR(`orders`.`_timestamp`), 1) AS y, COUNT(*) AS count FROM `orders` GROUP BY MAKEDATE(YEAR(`orders`.`_timestamp`), 1) ORDER BY y",
    "SELECT STR_TO_DATE(CONCAT(YEARWEEK(`_timestamp`), ' Sunday'), '%X%V %W') AS w, COUNT(*) FROM `orders` GROUP BY STR_TO_DATE(CONCAT(YEARWEEK(`_timestamp`), ' Sunday'), '%X%V %W')",
    "SELECT STR_TO_DATE(CONCAT(YEAR(`_timestamp`), '-', ((QUARTER(`_timestamp`) * 3) - 2), '-01'), '%Y-%m-%d') AS q, COUNT(*) FROM `orders` GROUP BY 1 ORDER BY 1",
    "SELECT STR_TO_DATE(DATE_FORMAT(`_timestamp`, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i') AS m, DATE(`_timestamp`) AS d, HOUR(`_timestamp`) AS h FROM `orders` LIMIT 3",
    "SELECT COUNT(*) FROM `orders` WHERE `_timestamp` >= DATE(DATE_ADD(NOW(6), INTERVAL -30 DAY)) AND `_timestamp` < DATE(NOW(6))",
]

GRAFANA = [
    "SELECT 1",
    "SET SESSION time_zone = '+00:00'",
    "SELECT DISTINCT TABLE_SCHEMA FROM information_schema.TABLES WHERE TABLE_TYPE != 'SYSTEM VIEW' ORDER BY TABLE_SCHEMA",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'kafka' ORDER BY table_name",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'kafka' AND table_name = 'orders' ORDER BY column_name",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = database() AND table_name = 'orders'"
    " AND data_type IN ('timestamp','datetime','bigint','int','double','float') ORDER BY column_name",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = database() AND table_name = 'orders'"
    " AND data_type IN ('bigint','int','smallint','mediumint','tinyint','double','decimal','float') AND column_name <> '_timestamp' ORDER BY column_name",
    # $__timeGroupAlias(_timestamp, 1m) and $__timeFilter
    "SELECT UNIX_TIMESTAMP(_timestamp) DIV 60 * 60 AS `time`, city AS metric, AVG(amount) AS `value` FROM kafka.orders"
    " WHERE _timestamp BETWEEN FROM_UNIXTIME(0) AND FROM_UNIXTIME(2000000000) GROUP BY 1, 2 ORDER BY UNIX_TIMESTAMP(_timestamp) DIV 60 * 60",
    "SELECT CAST(CAST(UNIX_TIMESTAMP(_timestamp)/(300) AS signed)*300 AS signed) AS `time`, COUNT(*) FROM orders"
    " WHERE _timestamp >= FROM_UNIXTIME(0) AND _timestamp <= FROM_UNIXTIME(2000000000) GROUP BY 1 ORDER BY 1",
    "SELECT UNIX_TIMESTAMP(_timestamp) AS time_sec, amount AS value FROM orders WHERE UNIX_TIMESTAMP(_timestamp) >= 0 AND UNIX_TIMESTAMP(_timestamp) <= 2000000000 ORDER BY 1",
    "SELECT UNIX_TIMESTAMP(_timestamp) DIV 3600 * 3600 AS `time`, SUM(amount) FROM orders GROUP BY `time` ORDER BY `time` LIMIT 50",
]

DBEAVER = CONNECTOR_J + [
    "SELECT DATABASE()",
    "SHOW ENGINES",
    "SHOW CHARSET",
    "SHOW COLLATION",
    "SHOW PLUGINS",
    "SELECT @@GLOBAL.character_set_server,@@GLOBAL.collation_server",
    "SHOW VARIABLES LIKE 'lower_case_table_names'",
    "SELECT VERSION()",
    "show databases",
    "show databases like 'kafka'",
    "SELECT * FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = 'information_schema' AND t.TABLE_NAME = 'CHECK_CONSTRAINTS'",
    "SELECT * FROM information_schema.SCHEMATA",
    "use `kafka`",
    "SHOW FULL PROCESSLIST",
    "SHOW PRIVILEGES",
    "SHOW GLOBAL STATUS",
    "SHOW STATUS",
    "SHOW VARIABLES",
    "SHOW GLOBAL VARIABLES",
    "SHOW FULL TABLES FROM `kafka`",
    "SHOW FULL TABLES FROM `kafka` LIKE 'orders'",
    "SHOW TABLE STATUS FROM `kafka`",
    "SHOW TABLE STATUS FROM `kafka` LIKE 'orders'",
    "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='kafka' AND TABLE_NAME='orders' ORDER BY ORDINAL_POSITION",
    "SELECT * FROM information_schema.STATISTICS WHERE TABLE_SCHEMA='kafka' AND TABLE_NAME='orders' ORDER BY INDEX_NAME,SEQ_IN_INDEX",
    "SELECT kc.CONSTRAINT_NAME,kc.TABLE_NAME,kc.COLUMN_NAME,kc.ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc"
    " WHERE kc.CONSTRAINT_SCHEMA='kafka' AND kc.REFERENCED_TABLE_NAME IS NULL AND kc.TABLE_NAME='orders' ORDER BY kc.CONSTRAINT_NAME, kc.ORDINAL_POSITION",
    "SELECT cc.CONSTRAINT_NAME, cc.CHECK_CLAUSE, tc.TABLE_NAME FROM (SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS"
    " WHERE CONSTRAINT_SCHEMA = 'kafka') cc, (SELECT TABLE_NAME, CONSTRAINT_NAME FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS"
    " WHERE TABLE_SCHEMA = 'kafka' AND TABLE_NAME='orders') tc WHERE cc.CONSTRAINT_NAME = tc.CONSTRAINT_NAME ORDER BY cc.CONSTRAINT_NAME",
    "SELECT * FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA='kafka'",
    "SELECT * FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA='kafka' AND ROUTINE_TYPE IN ('PROCEDURE','FUNCTION') ORDER BY ROUTINE_NAME",
    "SHOW FULL TRIGGERS FROM `kafka`",
    "SELECT * FROM INFORMATION_SCHEMA.TRIGGERS WHERE TRIGGER_SCHEMA='kafka' ORDER BY TRIGGER_NAME",
    "SELECT * FROM information_schema.EVENTS WHERE EVENT_SCHEMA='kafka' ORDER BY EVENT_NAME",
    "SELECT * FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA='kafka' AND TABLE_NAME='orders' ORDER BY PARTITION_ORDINAL_POSITION,SUBPARTITION_ORDINAL_POSITION",
    "SELECT * FROM mysql.user ORDER BY user",
    "SHOW CREATE TABLE `kafka`.`orders`",
    "SHOW CREATE DATABASE `kafka`",
    "SHOW WARNINGS",
    "SELECT x.* FROM `kafka`.`orders` x LIMIT 0, 200",
    "SELECT COUNT(*) FROM `kafka`.`orders`",
    "EXPLAIN SELECT * FROM `kafka`.`orders`",
    "EXPLAIN FORMAT=JSON SELECT * FROM `kafka`.`orders`",
    "SELECT * FROM performance_schema.threads LIMIT 1",
]


def _datagrip(schema):
    return [
        "select table_name, table_type, table_comment, engine, table_collation, create_options from information_schema.tables"
        f" where table_schema = '{schema}'",
        "select ordinal_position, column_name, column_type, column_default, generation_expression, table_name, column_comment, is_nullable,"
        f" extra, collation_name from information_schema.columns where table_schema = '{schema}' order by table_name, ordinal_position",
        f"select table_name, auto_increment from information_schema.tables where table_schema = '{schema}' and auto_increment is not null",
        "select table_name, index_name, index_comment, index_type, non_unique, column_name, sub_part, collation, expression"
        f" from information_schema.statistics where table_schema = '{schema}' and index_schema = '{schema}'"
        " order by index_schema, table_name, index_name, index_type, seq_in_index",
        "select c.constraint_name, c.constraint_schema, c.table_name, c.constraint_type, enforced = 'YES' enforced"
        f" from information_schema.table_constraints c where c.table_schema = '{schema}'",
        "select constraint_name, table_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name"
        f" from information_schema.key_column_usage where table_schema = '{schema}' and referenced_column_name is not null"
        " order by table_name, constraint_name, ordinal_position",
        "select constraint_schema, table_name, constraint_name, update_rule, delete_rule from information_schema.referential_constraints"
        f" where constraint_schema = '{schema}'",
        "select constraint_name, check_clause from information_schema.check_constraints"
        f" where constraint_schema = '{schema}'",
        "select table_name, partition_name, subpartition_name, partition_ordinal_position, subpartition_ordinal_position, partition_method,"
        " subpartition_method, partition_expression, subpartition_expression, partition_description, partition_comment/*, tablespace_name*/"
        f" from information_schema.partitions where partition_name is not null and table_schema = '{schema}'",
        "select trigger_name, event_object_table, event_manipulation, action_timing, definer from information_schema.triggers"
        f" where trigger_schema = '{schema}'",
        "select event_name, event_comment, definer, event_type = 'RECURRING' recurring, interval_value, interval_field,"
        " cast(coalesce(starts, execute_at) as char) starts, cast(ends as char) ends, status, on_completion = 'PRESERVE' preserve, last_executed"
        f" from information_schema.events where event_schema = '{schema}'",
        "select routine_name, routine_type, routine_definition, routine_comment, dtd_identifier, definer, is_deterministic = 'YES' is_deterministic,"
        " cast(sql_data_access as char(1)) sql_data_access, cast(security_type as char(1)) security_type from information_schema.routines"
        f" where routine_schema = '{schema}'",
        f"select Host, User, Routine_name, Proc_priv, Routine_type = 'PROCEDURE' as is_proc from mysql.procs_priv where Db = '{schema}'",
        "select grantee, table_name, column_name, privilege_type, is_grantable from information_schema.column_privileges"
        f" where table_schema = '{schema}' union all select grantee, table_name, '' column_name, privilege_type, is_grantable"
        f" from information_schema.table_privileges where table_schema = '{schema}' order by table_name, grantee, privilege_type",
        "select specific_name, ordinal_position, parameter_name, parameter_mode, dtd_identifier from information_schema.parameters"
        f" where specific_schema = '{schema}' and ordinal_position > 0 order by specific_name, ordinal_position",
        f"select table_name, view_definition, definer from information_schema.views where table_schema = '{schema}'",
    ]


DATAGRIP = CONNECTOR_J + [
    "SET net_write_timeout=600",
    "select version(), @@version_comment, database()",
    "select @@event_scheduler",
    "select database(), schema(), left(user(),instr(concat(user(),'@'),'@')-1)",
    "select schema_name, default_collation_name from information_schema.schemata",
    "select collation_name, character_set_name, is_default collate utf8mb4_bin = 'Yes' as is_default from information_schema.collations",
    "select character_set_name, default_collate_name, description, maxlen from information_schema.character_sets",
    "select user, host from mysql.user",
    "select grantee, privilege_type, is_grantable from information_schema.user_privileges order by grantee, privilege_type",
    "select grantee, table_schema, privilege_type, is_grantable from information_schema.schema_privileges order by table_schema, grantee, privilege_type",
    "select @@session.transaction_isolation",
    "select @@session.transaction_read_only",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    *_datagrip("kafka"), *_datagrip("information_schema"), *_datagrip("mysql"), *_datagrip("millrace"),
    "SELECT t.* FROM kafka.orders t LIMIT 501",
    "select * from information_schema.processlist",
]

# Tableau: MySQL's ODBC driver, whose catalog functions ask SHOW or information_schema.
TABLEAU = [
    "SET NAMES utf8",
    "SET NAMES utf8mb4",
    "SET character_set_results = NULL",
    "SET SQL_AUTO_IS_NULL = 0",
    "set @@sql_select_limit=DEFAULT",
    "SELECT CONNECTION_ID()",
    "SELECT `table_name`, `column_name` FROM `information_schema`.`columns` WHERE `data_type`='enum' AND `table_schema`='kafka'",
    "SHOW DATABASES LIKE '%'",
    "SHOW FULL TABLES FROM `kafka` LIKE '%'",
    "SHOW FULL TABLES FROM `kafka` WHERE TABLE_TYPE = 'BASE TABLE'",
    "SHOW TABLE STATUS FROM `kafka` LIKE 'orders'",
    "SHOW FULL COLUMNS FROM `orders` FROM `kafka` LIKE '%'",
    "SHOW KEYS FROM `kafka`.`orders`",
    "SHOW KEYS FROM `orders` FROM `kafka`",
    "SELECT A.REFERENCED_TABLE_SCHEMA AS PKTABLE_CAT, NULL AS PKTABLE_SCHEM, A.REFERENCED_TABLE_NAME AS PKTABLE_NAME,"
    " A.REFERENCED_COLUMN_NAME AS PKCOLUMN_NAME, A.TABLE_SCHEMA AS FKTABLE_CAT, NULL AS FKTABLE_SCHEM, A.TABLE_NAME AS FKTABLE_NAME,"
    " A.COLUMN_NAME AS FKCOLUMN_NAME, A.ORDINAL_POSITION AS KEY_SEQ, CASE WHEN R.UPDATE_RULE = 'CASCADE' THEN 0 WHEN R.UPDATE_RULE = 'SET NULL'"
    " THEN 2 WHEN R.UPDATE_RULE = 'SET DEFAULT' THEN 4 WHEN R.UPDATE_RULE = 'SET RESTRICT' THEN 1 ELSE 3 END AS UPDATE_RULE,"
    " A.CONSTRAINT_NAME AS FK_NAME, 'PRIMARY' AS PK_NAME, 7 AS DEFERRABILITY FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE A"
    " JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE D ON (D.TABLE_SCHEMA=A.REFERENCED_TABLE_SCHEMA AND D.TABLE_NAME=A.REFERENCED_TABLE_NAME"
    " AND D.COLUMN_NAME=A.REFERENCED_COLUMN_NAME) JOIN INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS R ON (R.CONSTRAINT_NAME = A.CONSTRAINT_NAME"
    " AND R.TABLE_NAME = A.TABLE_NAME AND R.CONSTRAINT_SCHEMA = A.TABLE_SCHEMA) WHERE D.CONSTRAINT_NAME='PRIMARY' AND A.TABLE_SCHEMA = 'kafka'"
    " AND A.TABLE_NAME = 'orders' ORDER BY PKTABLE_CAT, PKTABLE_NAME, KEY_SEQ, FKTABLE_NAME",
    "SELECT * FROM `kafka`.`orders` LIMIT 0",
    "SELECT `orders`.`city` AS `city`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1",
    "SELECT `orders`.`city` AS `city` FROM `orders` GROUP BY 1 ORDER BY `city` ASC",
    "SELECT SUM(1) AS `sum:Number of Records:ok` FROM `orders` HAVING (COUNT(1) > 0)",
    "SELECT ADDDATE(CONCAT(DATE_FORMAT(`orders`.`_timestamp`, '%Y-%m-01'), ' 00:00:00'), INTERVAL 0 SECOND) AS `tmn:_timestamp:ok`,"
    " COUNT(1) AS `cnt` FROM `orders` GROUP BY 1",
    "SELECT DATE(`orders`.`_timestamp`) AS `tdy`, YEAR(`orders`.`_timestamp`) AS `yr`, COUNT(1) FROM `orders` GROUP BY 1, 2",
    "SELECT `t0`.`city`, `t0`.`c` FROM (SELECT `orders`.`city` AS `city`, COUNT(DISTINCT `orders`.`id`) AS `c` FROM `orders`"
    " GROUP BY 1) `t0` WHERE (`t0`.`c` >= 1) ORDER BY `t0`.`city`",
]

# What Tableau tries to learn what it may do, and goes on without.
TABLEAU_REFUSED = [
    "DROP TABLE `#Tableau_00000001_1_Connect`",
    "CREATE TEMPORARY TABLE `#Tableau_00000001_1_Connect` (`COL` INTEGER) ENGINE = InnoDB",
]

# Power BI: Connector/NET, then Power Query's questions to information_schema.
POWER_BI = [
    "SHOW VARIABLES",
    "SELECT TIMEDIFF(NOW(), UTC_TIMESTAMP())",
    "SELECT @@max_allowed_packet, @@character_set_client, @@character_set_connection, @@license, @@sql_mode, @@lower_case_table_names",
    "SHOW COLLATION",
    "SET NAMES utf8mb4",
    "SET character_set_results=NULL",
    "SELECT id, character_set_name FROM information_schema.collations",
    "SET SQL_AUTO_IS_NULL=0",
    "SELECT DATABASE()",
    "SELECT SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA",
    "select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE from INFORMATION_SCHEMA.TABLES where TABLE_SCHEMA not in ('information_schema', 'mysql', 'performance_schema', 'sys')",
    "select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (DATA_TYPE like '%unsigned%') then concat(DATA_TYPE, ' unsigned')"
    " else DATA_TYPE end as DATA_TYPE from INFORMATION_SCHEMA.COLUMNS where TABLE_SCHEMA = 'kafka' and TABLE_NAME = 'orders' order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
    "select kcu.CONSTRAINT_SCHEMA, kcu.CONSTRAINT_NAME, kcu.TABLE_NAME, kcu.COLUMN_NAME, kcu.ORDINAL_POSITION, tc.CONSTRAINT_TYPE"
    " from INFORMATION_SCHEMA.TABLE_CONSTRAINTS tc, INFORMATION_SCHEMA.KEY_COLUMN_USAGE kcu where kcu.CONSTRAINT_NAME = tc.CONSTRAINT_NAME"
    " and kcu.TABLE_NAME = tc.TABLE_NAME and kcu.TABLE_SCHEMA = 'kafka' and kcu.TABLE_NAME = 'orders' and tc.CONSTRAINT_TYPE in ('PRIMARY KEY', 'UNIQUE')"
    " order by kcu.CONSTRAINT_NAME, kcu.ORDINAL_POSITION",
    "select pkcol.TABLE_SCHEMA PK_TABLE_SCHEMA, pkcol.TABLE_NAME PK_TABLE_NAME, pkcol.COLUMN_NAME PK_COLUMN_NAME, fkcol.COLUMN_NAME FK_COLUMN_NAME,"
    " fkcol.ORDINAL_POSITION ORDINAL, concat(fkcon.CONSTRAINT_SCHEMA, '_', 'orders', '_', pkcol.TABLE_NAME, '_', fkcon.CONSTRAINT_NAME) FK_NAME"
    " from (select distinct CONSTRAINT_CATALOG, CONSTRAINT_SCHEMA, UNIQUE_CONSTRAINT_SCHEMA, CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME"
    " from INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS) fkcon inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE fkcol"
    " on fkcon.CONSTRAINT_SCHEMA = fkcol.CONSTRAINT_SCHEMA and fkcon.CONSTRAINT_NAME = fkcol.CONSTRAINT_NAME"
    " inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE pkcol on fkcon.UNIQUE_CONSTRAINT_SCHEMA = pkcol.CONSTRAINT_SCHEMA"
    " and fkcon.UNIQUE_CONSTRAINT_NAME = pkcol.CONSTRAINT_NAME where fkcol.TABLE_SCHEMA = 'kafka' and fkcol.TABLE_NAME = 'orders'"
    " and pkcol.ORDINAL_POSITION = fkcol.ORDINAL_POSITION order by FK_NAME, fkcol.ORDINAL_POSITION",
    "SHOW KEYS FROM `orders`",
    "SHOW COLUMNS FROM `orders`",
    "SHOW INDEX FROM `kafka`.`orders`",
    "SELECT `$Table`.* FROM `kafka`.`orders` AS `$Table` LIMIT 4096",
    "select `rows`.`city` as `city`, sum(`rows`.`amount`) as `a0` from (select `_`.`city`, `_`.`amount` from `kafka`.`orders` `_`"
    " where `_`.`amount` > 1) `rows` group by `city`",
    "select `_`.`city`, `_`.`amount` from `kafka`.`orders` `_` where `_`.`_timestamp` >= str_to_date('2020-01-01 00:00:00', '%Y-%m-%d %H:%i:%s')"
    " order by `_`.`amount` desc limit 1000",
]

NOCODB = [
    "SELECT 1+1 AS data",
    "SELECT version() AS version",
    "SHOW DATABASES LIKE 'kafka'",
    "SHOW databases",
    "SHOW FULL TABLES WHERE TABLE_TYPE NOT LIKE 'VIEW'",
    "SHOW FULL TABLES WHERE TABLE_TYPE LIKE 'VIEW'",
    "select schema_name from information_schema.schemata where schema_name not in ('information_schema','performance_schema','sys','mysql') order by schema_name",
    "select c.table_name as tn, c.column_name as cn, c.data_type as dt, c.column_type as ct, c.is_nullable as nrqd, c.column_default as cdf,"
    " c.character_maximum_length as clen, c.numeric_precision as np, c.numeric_scale as ns, c.datetime_precision as dp, c.ordinal_position as cop,"
    " c.column_key as ck, c.extra as ext, c.column_comment as cc, c.character_set_name as csn, c.generation_expression as generated_expression, tc.constraint_type as cst"
    " from information_schema.columns c left join (select kc.table_schema, kc.table_name, kc.column_name, t.constraint_type"
    " from information_schema.key_column_usage kc join information_schema.table_constraints t on kc.constraint_name = t.constraint_name"
    " and kc.table_schema = t.table_schema and kc.table_name = t.table_name where kc.table_schema = 'kafka' and kc.table_name = 'orders') tc"
    " on tc.table_name = c.table_name and tc.column_name = c.column_name"
    " where c.table_schema = 'kafka' and c.table_name = 'orders' order by c.ordinal_position",
    "SHOW INDEX FROM `orders`",
    "select kc.constraint_name as cstn, kc.column_name as cn, kc.ordinal_position as op, kc.position_in_unique_constraint as puc, tc.constraint_type as cst"
    " from information_schema.key_column_usage as kc inner join information_schema.table_constraints as tc on kc.constraint_name = tc.constraint_name"
    " and kc.constraint_schema = tc.constraint_schema and kc.table_name = tc.table_name"
    " where kc.constraint_schema = 'kafka' and kc.table_name = 'orders' order by kc.ordinal_position",
    "select kc.table_name as tn, kc.constraint_name as cstn, kc.column_name as cn, kc.referenced_table_name as rtn, kc.referenced_column_name as rcn,"
    " kc.position_in_unique_constraint as puc, rc.update_rule as ur, rc.delete_rule as dr, rc.match_option as mo"
    " from information_schema.key_column_usage as kc inner join information_schema.referential_constraints as rc on kc.constraint_name = rc.constraint_name"
    " and kc.table_schema = rc.constraint_schema where kc.referenced_table_name is not null and kc.table_schema = 'kafka' order by kc.table_name",
    "SHOW TRIGGERS LIKE '%orders%'",
    "SHOW FUNCTION STATUS WHERE db = 'kafka'",
    "SHOW PROCEDURE STATUS WHERE db = 'kafka'",
    "SELECT * FROM INFORMATION_SCHEMA.VIEWS WHERE TABLE_SCHEMA = 'kafka' AND TABLE_NAME = 'orders'",
    "select * from information_schema.tables where table_name = 'orders' and table_schema = database()",
    "select count(*) as `count` from `orders`",
    "select `_partition`, `_offset`, `city`, `amount` from `orders` order by `_partition` asc, `_offset` asc limit 25",
    "select count(`_partition`) as `count` from `orders` where `orders`.`city` like '%a%'",
]

# Trino's MySQL connector: it asks by Connector/J's metadata (of which JDBC's tests tell), then for statistics, and reads with what it leaves to the server.
TRINO = CONNECTOR_J + [
    "SHOW DATABASES",
    "SHOW FULL TABLES FROM `kafka` LIKE '%'",
    "SHOW FULL COLUMNS FROM `orders` FROM `kafka` LIKE '%'",
    "SELECT @@GLOBAL.version",
    "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'kafka' AND table_name = 'orders'",
    "SELECT TABLE_ROWS FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'kafka' AND TABLE_NAME = 'orders'",
    "SELECT COLUMN_NAME, MAX(NULLABLE) AS nullable, MAX(CARDINALITY) AS cardinality FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = 'kafka'"
    " AND TABLE_NAME = 'orders' AND SUB_PART IS NULL AND CARDINALITY IS NOT NULL AND SEQ_IN_INDEX = 1 GROUP BY COLUMN_NAME",
    "SELECT COLUMN_NAME, HISTOGRAM FROM INFORMATION_SCHEMA.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'kafka' AND TABLE_NAME = 'orders'",
    "SELECT `_offset`, `city`, `amount` FROM `kafka`.`orders`",
    "SELECT `city`, `amount` FROM `kafka`.`orders` WHERE `city` = 'a' AND `amount` >= 2 AND `city` IS NOT NULL",
    "SELECT `city`, count(*) AS `_pfgnrtd_0`, sum(`amount`) AS `_pfgnrtd_1` FROM `kafka`.`orders` GROUP BY `city`",
    "SELECT `id`, `amount` FROM (SELECT `id`, `amount` FROM `kafka`.`orders`) o ORDER BY ISNULL(`amount`) ASC, `amount` DESC LIMIT 2",
    "SELECT l.`id` AS `id_0`, r.`id` AS `id_1` FROM (SELECT `id`, `city` FROM `kafka`.`orders`) l INNER JOIN (SELECT `id`, `city` FROM `kafka`.`orders`) r"
    " ON l.`city` = r.`city` WHERE l.`id` < r.`id`",
]

TOOLS = {"metabase": METABASE, "grafana": GRAFANA, "dbeaver": DBEAVER, "datagrip": DATAGRIP, "tableau": TABLEAU, "power_bi": POWER_BI, "nocodb": NOCODB, "trino": TRINO}
