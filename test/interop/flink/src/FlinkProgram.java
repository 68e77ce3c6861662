import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.*;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** Submits jobs to a Flink cluster and prints their ids: copies of topics in SQL, and upper case by the DataStream API. */
public class FlinkProgram {
  public static void main(String[] a) throws Exception {
    String restPort = a[0], job = a[1], bootstrap = a[2], from = a[3], to = a[4], with = a.length > 5 ? a[5] : "";
    var conf = new Configuration();
    conf.setString("execution.checkpointing.interval", "400ms");
    conf.setString("restart-strategy.type", "fixed-delay");
    conf.setString("restart-strategy.fixed-delay.attempts", "1000");
    conf.setString("restart-strategy.fixed-delay.delay", "500ms");
    var env = StreamExecutionEnvironment.createRemoteEnvironment("127.0.0.1", Integer.parseInt(restPort), conf);
    env.setParallelism(1);
    switch (job) {
      case "sql" -> {
        var t = StreamTableEnvironment.create(env);
        String table = "CREATE TABLE %s (id BIGINT, name STRING) WITH ('connector'='kafka', 'topic'='%s',"
            + " 'properties.bootstrap.servers'='%s', 'format'='json'%s)";
        t.executeSql(String.format(table, "source", from, bootstrap, ", 'properties.group.id'='flink-" + to + "', 'scan.startup.mode'='earliest-offset'"));
        t.executeSql(String.format(table, "sink", to, bootstrap, with));
        System.out.println(t.executeSql("INSERT INTO sink SELECT id, UPPER(name) FROM source").getJobClient().get().getJobID());
      }
      case "upper" -> {
        var source = KafkaSource.<String>builder().setBootstrapServers(bootstrap).setTopics(from).setGroupId("flink-" + to)
            .setStartingOffsets(OffsetsInitializer.earliest()).setValueOnlyDeserializer(new SimpleStringSchema()).build();
        var sink = KafkaSink.<String>builder().setBootstrapServers(bootstrap)
            .setRecordSerializer(KafkaRecordSerializationSchema.builder().setTopic(to).setValueSerializationSchema(new SimpleStringSchema()).build())
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE).setTransactionalIdPrefix("upper-" + to)
            // Asks the broker for open transactions, where the default probes transactional ids.
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING).build();
        env.fromSource(source, WatermarkStrategy.noWatermarks(), "in").map(v -> v.toUpperCase()).returns(String.class).sinkTo(sink);
        System.out.println(env.executeAsync("upper").getJobID());
      }
      default -> throw new IllegalArgumentException(job);
    }
  }
}
