import java.io.*;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.util.*;

/** A JDBC driver's part in test_values.py: runs the steps of standard input once for each set of connection properties and prints what
 * the driver makes of the answers, in the words that clients/values.py explains. A line of input is: sql, then arguments, between tabs. */
public class Values {
  public static void main(String[] a) throws Exception {
    List<String> steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList();
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    for (String properties : Arrays.copyOfRange(a, 1, a.length)) {
      try (Connection c = DriverManager.getConnection(a[0] + "?" + properties, "app", "")) {
        for (String step : steps) {
          String[] words = step.split("\t", -1);
          for (int i = 0; i < words.length; i++) words[i] = words[i].replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\");
          out.println(step(c, words[0], Arrays.copyOfRange(words, 1, words.length)));
        }
      }
    }
  }

  static String step(Connection c, String sql, String[] args) {
    try (PreparedStatement p = c.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) set(p, i + 1, args[i]);
      if (!p.execute()) return "{\"affected\": " + p.getUpdateCount() + "}";
      ResultSet rs = p.getResultSet();
      ResultSetMetaData m = rs.getMetaData();
      List<String> names = new ArrayList<>(), rows = new ArrayList<>();
      for (int i = 1; i <= m.getColumnCount(); i++) names.add(quote(m.getColumnLabel(i)));
      while (rs.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= m.getColumnCount(); i++) row.add(say(rs, i, m.getColumnType(i)));
        rows.add(row.toString());
      }
      return "{\"columns\": " + names + ", \"rows\": " + rows + "}";
    } catch (SQLException e) {
      return "{\"error\": [" + e.getErrorCode() + ", " + quote(e.getSQLState()) + "]}";
    }
  }

  static void set(PreparedStatement p, int i, String word) throws SQLException {
    String text = word.substring(Math.min(word.indexOf(' ') + 1, word.length()));
    switch (word.split(" ")[0]) {
      case "": p.setNull(i, Types.VARCHAR); break;
      case "int": p.setLong(i, Long.parseLong(text)); break;
      case "dec": p.setBigDecimal(i, new BigDecimal(text)); break;
      case "flt": p.setDouble(i, Double.parseDouble(text)); break;
      case "txt": p.setString(i, text); break;
      case "bin": p.setBytes(i, HexFormat.of().parseHex(text)); break;
      case "date": p.setObject(i, LocalDate.parse(text)); break;
      case "at": p.setObject(i, LocalDateTime.parse(text.replace(' ', 'T'))); break;
      default: throw new IllegalArgumentException(word);
    }
  }

  static final DateTimeFormatter AT = new java.time.format.DateTimeFormatterBuilder().appendPattern("yyyy-MM-dd HH:mm:ss")
      .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true).toFormatter();

  static String say(ResultSet rs, int i, int type) throws SQLException {
    if (type == Types.TIMESTAMP) { // without a conversion between zones: those have a test of their own
      LocalDateTime at = rs.getObject(i, LocalDateTime.class);
      return at == null ? "null" : quote("at " + AT.format(at));
    }
    if (type == Types.TIME) { // java.sql.Time holds a time of day in whole seconds
      String s = rs.getString(i);
      return s == null ? "null" : quote("time " + s.replaceFirst("\\.?0*$", s.contains(".") ? "" : "$0"));
    }
    Object v = rs.getObject(i);
    if (v == null) return "null";
    if (v instanceof Boolean b) return quote("int " + (b ? 1 : 0));
    if (v instanceof Integer || v instanceof Long || v instanceof BigInteger || v instanceof Byte || v instanceof Short) return quote("int " + v);
    if (v instanceof BigDecimal d) return quote("dec " + d.toPlainString());
    if (v instanceof Double || v instanceof Float) return quote("flt " + v);
    if (v instanceof byte[] b) return quote("bin " + HexFormat.of().formatHex(b));
    if (v instanceof Blob b) return quote("bin " + HexFormat.of().formatHex(b.getBytes(1, (int) b.length())));
    if (v instanceof java.sql.Date d) return quote("date " + d.toLocalDate());
    if (v instanceof String s) return quote("txt " + s);
    return quote(v.getClass().getName() + " " + v);
  }

  static String quote(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char ch : s.toCharArray()) {
      if (ch == '"' || ch == '\\') b.append('\\').append(ch);
      else if (ch < ' ') b.append(String.format("\\u%04x", (int) ch));
      else b.append(ch);
    }
    return b.append('"').toString();
  }
}
