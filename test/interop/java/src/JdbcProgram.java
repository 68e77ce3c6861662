import java.sql.*;
import java.util.*;

/** Connector/J against topics t (n BIGINT, s text) and u (n, label); prints one line per check. */
public class JdbcProgram {
  public static void main(String[] a) throws Exception {
    String url = "jdbc:mysql://" + a[0] + "/kafka?" + (a.length > 1 ? a[1] : "");
    try (Connection c = DriverManager.getConnection(url, "app", "")) {
      DatabaseMetaData md = c.getMetaData();
      System.out.println("tables " + column(md.getTables("kafka", null, "%", new String[] {"TABLE"}), "TABLE_NAME").containsAll(List.of("jt", "ju")));
      System.out.println("columns " + column(md.getColumns("kafka", null, "jt", "%"), "COLUMN_NAME"));
      System.out.println("pk " + column(md.getPrimaryKeys("kafka", null, "jt"), "COLUMN_NAME"));
      System.out.println("group " + rows(c.createStatement().executeQuery("SELECT s, COUNT(*), SUM(n) FROM jt WHERE n > 0 GROUP BY s ORDER BY s LIMIT 10")));
      System.out.println("join " + rows(c.createStatement().executeQuery("SELECT jt.n, ju.label FROM jt JOIN ju ON jt.n = ju.n ORDER BY 1")));
      try (PreparedStatement p = c.prepareStatement("SELECT n, s FROM jt WHERE n = ? OR s = ? ORDER BY n")) {
        p.setLong(1, 2);
        p.setString(2, "a");
        System.out.println("prepared " + rows(p.executeQuery()));
        p.setLong(1, 3);
        p.setString(2, "b");
        System.out.println("prepared " + rows(p.executeQuery()));
      }
    }
  }

  static List<String> column(ResultSet rs, String name) throws SQLException {
    List<String> out = new ArrayList<>();
    while (rs.next()) out.add(rs.getString(name));
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
