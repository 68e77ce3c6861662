import java.time.Duration;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.*;

/** The commands of clients/_kit.py with Apache Kafka's own client. */
public class KafkaProgram {
  public static void main(String[] a) throws Exception {
    String topic = a[2];
    Map<String, Object> conf = new HashMap<>(Map.of("bootstrap.servers", a[1]));
    switch (a[0]) {
      case "create" -> {
        try (Admin admin = Admin.create(conf)) {
          admin.createTopics(List.of(new NewTopic(topic, Integer.parseInt(a[3]), (short) 1))).all().get();
        }
      }
      case "produce" -> {
        int first = Integer.parseInt(a[3]), count = Integer.parseInt(a[4]);
        try (var p = new KafkaProducer<>(conf, new StringSerializer(), new StringSerializer())) {
          List<java.util.concurrent.Future<RecordMetadata>> sent = new ArrayList<>();
          for (int i = first; i < first + count; i++)
            sent.add(p.send(new ProducerRecord<>(topic, "k" + i % 10, "{\"n\":" + i + "}")));
          for (var f : sent) f.get();
        }
      }
      case "consume" -> consume(conf, topic, a[3]);
      default -> throw new IllegalArgumentException(a[0]);
    }
  }

  static void consume(Map<String, Object> conf, String topic, String group) throws Exception {
    conf.put("group.id", group);
    conf.put("auto.offset.reset", "earliest");
    var c = new KafkaConsumer<>(conf, new StringDeserializer(), new StringDeserializer());
    Thread main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      c.wakeup();
      try { main.join(20_000); } catch (InterruptedException e) { throw new RuntimeException(e); }
    }));
    c.subscribe(List.of(topic), new ConsumerRebalanceListener() {
      public void onPartitionsRevoked(Collection<TopicPartition> ps) {}
      public void onPartitionsAssigned(Collection<TopicPartition> ps) {
        System.out.println("ASSIGNED " + ps.stream().map(p -> "" + p.partition()).collect(Collectors.joining(",")));
      }
    });
    try {
      while (true)
        for (var r : c.poll(Duration.ofMillis(200)))
          System.out.println("RECORD " + r.partition() + " " + r.offset() + " " + r.value());
    } catch (WakeupException stop) {
      c.commitSync();
    } finally {
      c.close();
    }
  }
}
