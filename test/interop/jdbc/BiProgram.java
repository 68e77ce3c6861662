import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

/** A JDBC driver against topics jt (n BIGINT, s text), ju and big (i BIGINT); prints one line per check. */
public class BiProgram {
  static String url;

  static Connection open(String more) throws SQLException {
    return DriverManager.getConnection(url + (url.contains("?") ? "&" : "?") + more, "app", "");
  }

  public static void main(String[] a) throws Exception {
    url = a[0];
    String check = a[1];
    switch (check) {
      case "metadata": metadata(); break;
      case "prepared": prepared(); break;
      case "cursor": cursor(); break;
      case "cancel": cancel(); break;
      case "zones": zones(); break;
      case "columns": columns(); break;
      case "pool": pool(); break;
      case "schema": schema(); break;
      case "batch": batch(); break;
      default: throw new IllegalArgumentException(check);
    }
  }

  static void metadata() throws SQLException {
    try (Connection c = open("")) {
      DatabaseMetaData md = c.getMetaData();
      System.out.println("product " + md.getDatabaseProductName() + " " + md.getDatabaseMajorVersion() + "." + md.getDatabaseMinorVersion());
      System.out.println("catalogs " + column(md.getCatalogs(), "TABLE_CAT").containsAll(List.of("information_schema", "kafka", "millrace")));
      System.out.println("tableTypes " + !column(md.getTableTypes(), "TABLE_TYPE").isEmpty());
      System.out.println("tables " + cells(md.getTables("kafka", null, "j%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE"));
      System.out.println("all " + cells(md.getTables("kafka", null, "%", null), "TABLE_NAME"));
      System.out.println("anywhere " + cells(md.getTables(null, null, "jt", null), "TABLE_CAT", "TABLE_NAME"));
      System.out.println("views " + cells(md.getTables("kafka", null, "%", new String[] {"VIEW"}), "TABLE_NAME"));
      System.out.println("columns " + cells(md.getColumns("kafka", null, "jt", "%"), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "NULLABLE", "ORDINAL_POSITION"));
      System.out.println("one " + cells(md.getColumns("kafka", null, "jt", "n"), "COLUMN_NAME", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN"));
      System.out.println("pk " + cells(md.getPrimaryKeys("kafka", null, "jt"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
      System.out.println("index " + cells(md.getIndexInfo("kafka", null, "jt", false, true), "INDEX_NAME", "COLUMN_NAME", "ORDINAL_POSITION", "NON_UNIQUE"));
      System.out.println("best " + cells(md.getBestRowIdentifier("kafka", null, "jt", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
      System.out.println("imported " + cells(md.getImportedKeys("kafka", null, "jt"), "FKCOLUMN_NAME"));
      System.out.println("exported " + cells(md.getExportedKeys("kafka", null, "jt"), "FKCOLUMN_NAME"));
      System.out.println("cross " + cells(md.getCrossReference("kafka", null, "jt", "kafka", null, "ju"), "FKCOLUMN_NAME"));
      System.out.println("procedures " + cells(md.getProcedures("kafka", null, "%"), "PROCEDURE_NAME"));
      System.out.println("functions " + cells(md.getFunctions("kafka", null, "%"), "FUNCTION_NAME"));
      System.out.println("privileges " + (md.getTablePrivileges("kafka", null, "jt") != null));
      System.out.println("types " + cells(md.getTypeInfo(), "TYPE_NAME").contains("BIGINT"));
      System.out.println("keywords " + md.getSQLKeywords().toUpperCase().contains("ZEROFILL"));
      System.out.println("user " + md.getUserName().startsWith("app@"));
      try (ResultSet rs = c.createStatement().executeQuery("SELECT * FROM jt LIMIT 0")) {
        ResultSetMetaData m = rs.getMetaData();
        List<String> cols = new ArrayList<>();
        for (int i = 1; i <= m.getColumnCount(); i++) {
          cols.add(m.getColumnName(i) + " " + m.getColumnTypeName(i) + " " + m.getColumnClassName(i) + " " + m.getTableName(i) + " " + m.getCatalogName(i)
              + " " + m.isNullable(i) + " " + m.getPrecision(i) + "," + m.getScale(i));
        }
        System.out.println("result " + cols);
      }
      c.setCatalog("millrace");
      System.out.println("catalog " + c.getCatalog());
      c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      System.out.println("isolation " + c.getTransactionIsolation());
      c.setReadOnly(true);
      System.out.println("readOnly " + c.isReadOnly());
      System.out.println("valid " + c.isValid(5));
    }
  }

  /** Metadata by the other two ways that Connector/J has: from information_schema, and with databases called schemas. */
  static void schema() throws SQLException {
    for (String params : new String[] {"useInformationSchema=true", "databaseTerm=SCHEMA", "databaseTerm=SCHEMA&useInformationSchema=true"}) {
      boolean schemas = params.startsWith("databaseTerm");
      String cat = schemas ? null : "kafka", sch = schemas ? "kafka" : null;
      try (Connection c = open(params)) {
        DatabaseMetaData md = c.getMetaData();
        System.out.println("databases " + (schemas ? column(md.getSchemas(), "TABLE_SCHEM") : column(md.getCatalogs(), "TABLE_CAT"))
            .containsAll(List.of("information_schema", "kafka", "millrace")));
        System.out.println("tables " + cells(md.getTables(cat, sch, "j%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE"));
        System.out.println("views " + cells(md.getTables(cat, sch, "%", new String[] {"VIEW"}), "TABLE_NAME"));
        System.out.println("columns " + cells(md.getColumns(cat, sch, "jt", "%"), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "NULLABLE", "ORDINAL_POSITION", "IS_GENERATEDCOLUMN"));
        System.out.println("pk " + cells(md.getPrimaryKeys(cat, sch, "jt"), "COLUMN_NAME", "KEY_SEQ"));
        System.out.println("index " + cells(md.getIndexInfo(cat, sch, "jt", true, false), "INDEX_NAME", "COLUMN_NAME", "ORDINAL_POSITION"));
        System.out.println("keys " + cells(md.getImportedKeys(cat, sch, "jt"), "FKCOLUMN_NAME") + cells(md.getExportedKeys(cat, sch, "jt"), "FKCOLUMN_NAME"));
        System.out.println("routines " + cells(md.getProcedures(cat, sch, "%"), "PROCEDURE_NAME") + cells(md.getProcedureColumns(cat, sch, "%", "%"), "COLUMN_NAME")
            + cells(md.getFunctions(cat, sch, "%"), "FUNCTION_NAME"));
        System.out.println("best " + cells(md.getBestRowIdentifier(cat, sch, "jt", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME", "DATA_TYPE"));
        List<String> types = cells(md.getTypeInfo(), "TYPE_NAME", "DATA_TYPE");
        System.out.println("types " + types.containsAll(List.of("BIGINT|-5", "DECIMAL|3", "VARCHAR|12", "DATETIME|93", "TIMESTAMP|93", "DOUBLE|8")));
      }
    }
  }

  /** Batches of INSERT, one statement or many, in a transaction that is kept or not. */
  static void batch() throws SQLException {
    for (String params : new String[] {"", "rewriteBatchedStatements=true", "useServerPrepStmts=true", "useServerPrepStmts=true&rewriteBatchedStatements=true"}) {
      try (Connection c = open(params); Statement s = c.createStatement()) {
        s.execute("CREATE TABLE sales (id BIGINT, word VARCHAR(100), price DECIMAL(12,2), at DATETIME(6))");
        c.setAutoCommit(false);
        for (boolean kept : new boolean[] {false, true}) {
          try (PreparedStatement p = c.prepareStatement("INSERT INTO sales (id, word, price, at) VALUES (?, ?, ?, ?)")) {
            for (int i = 0; i < 1000; i++) {
              p.setLong(1, i);
              if (i % 2 == 0) p.setString(2, "it's \\ ü " + i);
              else p.setNull(2, Types.VARCHAR);
              p.setBigDecimal(3, java.math.BigDecimal.valueOf(i, 2));
              p.setObject(4, LocalDateTime.of(2026, 7, 1, 12, 0, i % 60, 250_000_000));
              p.addBatch();
            }
            System.out.println("batch " + p.executeBatch().length);
          }
          if (kept) c.commit();
          else c.rollback();
          System.out.println("rows " + rows(s.executeQuery("SELECT COUNT(*), COUNT(DISTINCT id), COUNT(word), SUM(price), MAX(at) FROM sales")));
          c.commit();
        }
        c.setAutoCommit(true);
        System.out.println("word " + rows(s.executeQuery("SELECT word FROM sales WHERE id = 998")));
        s.execute("DROP TABLE sales");
      }
    }
  }

  static void prepared() throws SQLException {
    for (String params : new String[] {"", "useServerPrepStmts=true", "useServerPrepStmts=true&cachePrepStmts=true", "rewriteBatchedStatements=true"}) {
      try (Connection c = open(params); PreparedStatement p = c.prepareStatement("SELECT n, s, ? AS echo FROM jt WHERE n >= ? AND s <> ? AND _timestamp < ? ORDER BY n")) {
        for (int round = 0; round < 2; round++) {
          p.setBigDecimal(1, new java.math.BigDecimal("1.50"));
          p.setInt(2, 1 + round);
          p.setString(3, "it's");
          p.setTimestamp(4, Timestamp.from(Instant.parse("2037-01-01T00:00:00Z")));
          System.out.println("prepared " + rows(p.executeQuery()));
        }
        ParameterMetaData pm = p.getParameterMetaData();
        System.out.println("parameters " + pm.getParameterCount());
        p.setNull(1, Types.VARCHAR);
        p.setObject(2, 3L);
        p.setObject(3, "x");
        p.setObject(4, LocalDateTime.of(2037, 1, 1, 0, 0));
        System.out.println("null " + rows(p.executeQuery()));
      }
    }
  }

  /** All rows of big in order, with the ways in which drivers fetch a part at a time. */
  static void cursor() throws SQLException {
    for (String params : new String[] {"", "useCursorFetch=true&defaultFetchSize=100", "useServerPrepStmts=true&useCursorFetch=true&defaultFetchSize=7"}) {
      try (Connection c = open(params)) {
        for (int size : params.isEmpty() ? new int[] {0, Integer.MIN_VALUE} : new int[] {100}) {
          try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            try {
              s.setFetchSize(size);
            } catch (SQLException e) { // only one driver has this size
              s.setFetchSize(10);
            }
            long n = 0, sum = 0;
            boolean sorted = true;
            try (ResultSet rs = s.executeQuery("SELECT i FROM big ORDER BY i")) {
              for (long last = -1; rs.next(); n++) {
                long i = rs.getLong(1);
                sorted &= i > last;
                sum += last = i;
              }
            }
            System.out.println("rows " + n + " " + sum + " " + sorted);
          }
        }
        try (PreparedStatement p = c.prepareStatement("SELECT i FROM big WHERE i >= ?")) { // left in the middle
          p.setFetchSize(10);
          p.setLong(1, 1);
          ResultSet rs = p.executeQuery();
          rs.next();
          rs.close();
          System.out.println("again " + rows(c.createStatement().executeQuery("SELECT COUNT(*) FROM big")));
        }
      }
    }
  }

  static final String SLOW = "SELECT COUNT(*) FROM big a, big b, big c WHERE a.i + b.i + c.i < 0";

  static void cancel() throws Exception {
    try (Connection c = open(""); Statement s = c.createStatement()) {
      ExecutorService one = Executors.newSingleThreadExecutor();
      Future<String> f = one.submit(() -> {
        try (ResultSet rs = s.executeQuery(SLOW)) {
          return "ended";
        } catch (SQLException e) {
          return "cancelled " + e.getErrorCode() + " " + e.getSQLState();
        }
      });
      try (Connection other = open("")) { // running, so that there is something to cancel
        while (!rows(other.createStatement().executeQuery("SHOW FULL PROCESSLIST")).toString().contains("big a, big b, big c")) {
          if (f.isDone()) break;
        }
      }
      s.cancel();
      System.out.println(f.get(60, TimeUnit.SECONDS));
      one.shutdown();
      System.out.println("after " + rows(c.createStatement().executeQuery("SELECT COUNT(*) FROM jt")));
    }
    try (Connection c = open(""); Statement s = c.createStatement()) {
      s.setQueryTimeout(1);
      try {
        s.executeQuery(SLOW);
        System.out.println("ended");
      } catch (SQLTimeoutException e) {
        System.out.println("timed out");
      } catch (SQLException e) {
        System.out.println("error " + e.getErrorCode() + " " + e.getClass().getSimpleName());
      }
      System.out.println("after " + rows(c.createStatement().executeQuery("SELECT COUNT(*) FROM jt")));
    }
  }

  /** The record's time (stamped by the producer at an instant that the test knows), through zones of the client and of the session. */
  static void zones() throws SQLException {
    TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
    for (String params : new String[] {
        "", "connectionTimeZone=SERVER", "connectionTimeZone=UTC&forceConnectionTimeZoneToSession=true",
        "connectionTimeZone=America/New_York&forceConnectionTimeZoneToSession=true", "connectionTimeZone=LOCAL&forceConnectionTimeZoneToSession=true",
        "useServerPrepStmts=true&connectionTimeZone=America/New_York&forceConnectionTimeZoneToSession=true"}) {
      try (Connection c = open(params);
          PreparedStatement p = c.prepareStatement("SELECT _timestamp, CAST(_timestamp AS CHAR), @@session.time_zone FROM zoned WHERE _timestamp = ?")) {
        Instant known = Instant.parse("2026-07-01T12:34:56.789Z");
        p.setTimestamp(1, Timestamp.from(known));
        try (ResultSet rs = p.executeQuery()) {
          if (!rs.next()) {
            System.out.println("none");
            continue;
          }
          System.out.println(rs.getTimestamp(1).toInstant() + " " + rs.getString(2) + " " + rs.getString(3));
        }
      }
    }
  }

  /** The columns of one table among many, timed for the reader; the answer is what counts. */
  static void columns() throws SQLException {
    try (Connection c = open("")) {
      DatabaseMetaData md = c.getMetaData();
      for (int round = 0; round < 3; round++) {
        long start = System.nanoTime();
        List<String> cols = cells(md.getColumns("kafka", null, "jt", "%"), "COLUMN_NAME");
        long got = System.nanoTime();
        int tables = column(md.getTables("kafka", null, "%", new String[] {"TABLE"}), "TABLE_NAME").size();
        long listed = System.nanoTime();
        List<String> keys = cells(md.getPrimaryKeys("kafka", null, "jt"), "COLUMN_NAME");
        List<String> index = cells(md.getIndexInfo("kafka", null, "jt", false, true), "COLUMN_NAME");
        System.out.println("columns " + cols.size() + " in " + (got - start) / 1000000 + " ms, tables " + tables + " in " + (listed - got) / 1000000
            + " ms, keys " + keys.size() + index.size() + " in " + (System.nanoTime() - listed) / 1000000 + " ms");
      }
    }
  }

  /** What a pool does between two users of a connection. */
  static void pool() throws SQLException {
    try (Connection c = open("")) {
      for (int i = 0; i < 3; i++) {
        c.setAutoCommit(false);
        System.out.println("in " + rows(c.createStatement().executeQuery("SELECT COUNT(*) FROM jt")));
        c.commit();
        c.setAutoCommit(false);
        c.rollback();
        c.setAutoCommit(true);
        c.clearWarnings();
        System.out.println("valid " + c.isValid(1));
      }
    }
  }

  static List<String> column(ResultSet rs, String name) throws SQLException {
    List<String> out = new ArrayList<>();
    while (rs.next()) out.add(rs.getString(name));
    return out;
  }

  static List<String> cells(ResultSet rs, String... names) throws SQLException {
    List<String> out = new ArrayList<>();
    while (rs.next()) {
      List<String> row = new ArrayList<>();
      for (String n : names) row.add(rs.getString(n));
      out.add(String.join("|", row));
    }
    return out;
  }

  static List<String> rows(ResultSet rs) throws SQLException {
    List<String> out = new ArrayList<>();
    int n = rs.getMetaData().getColumnCount();
    while (rs.next()) {
      List<String> row = new ArrayList<>();
      for (int i = 1; i <= n; i++) row.add(rs.getString(i));
      out.add(String.join("|", row));
    }
    return out;
  }
}
