import java.sql.*;

/** Reads all rows of a query, so many times: Read PORT PUSHDOWN TIMES PARAMETERS QUERY */
public class Read {
  public static void main(String[] a) throws Exception {
    boolean cursor = a[3].contains("useCursorFetch");
    long rows = 0;
    try (Connection c = DriverManager.getConnection("jdbc:mysql://127.0.0.1:" + a[0] + "/kafka?sslMode=DISABLED&" + a[3], "app", "")) {
      if (!a[1].equals("-"))
        try (Statement s = c.createStatement()) { s.execute("SET millrace_pushdown=" + a[1]); }
      for (int i = 0; i < Integer.parseInt(a[2]); i++)
        try (PreparedStatement s = c.prepareStatement(a[4], ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
          s.setFetchSize(cursor ? 10_000 : Integer.MIN_VALUE); // the latter reads row by row
          try (ResultSet rs = s.executeQuery()) { while (rs.next()) rows++; }
        }
    }
    System.out.println(rows);
  }
}
