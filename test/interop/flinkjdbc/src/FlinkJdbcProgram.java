import java.util.*;
import org.apache.flink.table.api.*;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Flink's JDBC connector against tables typed, big (i BIGINT) and names (i BIGINT, word): scans in one piece and in four, a lookup join, the
 * catalog, a sink. Prints one line a check. */
public class FlinkJdbcProgram {
  static TableEnvironment env;
  static String url;

  public static void main(String[] a) throws Exception {
    url = "jdbc:mysql://127.0.0.1:" + a[0] + "/kafka";
    env = TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().build());
    env.getConfig().set("parallelism.default", "2");
    env.getConfig().setLocalTimeZone(java.time.ZoneId.of("UTC"));
    table("typed", "id BIGINT, big BIGINT, ubig DECIMAL(20,0), small INT, flag BOOLEAN, price DECIMAL(20,6), ratio DOUBLE, name STRING,"
        + " `at` TIMESTAMP(6), stamp TIMESTAMP(3), `day` DATE, `user.age` INT");
    say("rows", "SELECT * FROM typed WHERE id < 9 ORDER BY id");
    table("big", "_partition INT, _offset BIGINT, i BIGINT", "scan.partition.column", "_offset", "scan.partition.num", "4", "scan.partition.lower-bound", "0",
        "scan.partition.upper-bound", "4999", "scan.fetch-size", "500");
    say("partitioned", "SELECT COUNT(*), SUM(i), MAX(i), COUNT(DISTINCT _offset) FROM big");
    table("names", "i BIGINT, word STRING");
    say("filtered", "SELECT word FROM names WHERE i = 7 AND word <> 'x'");
    say("limited", "SELECT COUNT(*) FROM (SELECT i FROM names LIMIT 3)");
    table("written", "id BIGINT, word STRING, price DECIMAL(12,2), `at` TIMESTAMP(6), ok BOOLEAN");
    env.executeSql("INSERT INTO written SELECT i, CASE WHEN MOD(i, 2) = 0 THEN CONCAT('wört ', CAST(i AS STRING)) END, CAST(i / 4.0 AS DECIMAL(12,2)),"
        + " TIMESTAMP '2026-07-01 12:00:00.25', i > 2500 FROM big").await();
    say("written", "SELECT COUNT(*), COUNT(word), SUM(price), MIN(`at`), SUM(CASE WHEN ok THEN 1 ELSE 0 END) FROM written");
    env.executeSql("CREATE CATALOG m WITH ('type' = 'jdbc', 'default-database' = 'kafka', 'username' = 'app', 'password' = 'secret', 'base-url' = 'jdbc:mysql://127.0.0.1:" + a[0] + "')");
    say("catalog", "SHOW TABLES IN m.kafka");
    say("through the catalog", "SELECT i, word, _offset, _timestamp IS NULL FROM m.kafka.names WHERE i < 2 ORDER BY i");
    env = TableEnvironment.create(EnvironmentSettings.newInstance().inStreamingMode().build());
    env.getConfig().set("parallelism.default", "1");
    table("names", "i BIGINT, word STRING");
    say("looked up", "SELECT o.i, n.word FROM (SELECT i, PROCTIME() AS at_ FROM (VALUES (CAST(1 AS BIGINT)), (7), (999)) AS v(i)) AS o"
        + " LEFT JOIN names FOR SYSTEM_TIME AS OF o.at_ AS n ON o.i = n.i");
  }

  static void table(String name, String columns, String... more) {
    StringBuilder with = new StringBuilder("'connector' = 'jdbc', 'url' = '" + url + "', 'table-name' = '" + name + "', 'username' = 'app', 'password' = 'secret'");
    for (int i = 0; i < more.length; i += 2) with.append(", '" + more[i] + "' = '" + more[i + 1] + "'");
    env.executeSql("CREATE TABLE " + name + " (" + columns + ") WITH (" + with + ")");
  }

  static void say(String what, String sql) throws Exception {
    List<String> rows = new ArrayList<>();
    try (CloseableIterator<Row> it = env.executeSql(sql).collect()) {
      it.forEachRemaining(r -> rows.add(r.toString()));
    }
    System.out.println(what + ": " + rows);
  }
}
