import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/** Share groups with Apache Kafka's own client. */
public class ShareProgram {
  public static void main(String[] a) throws Exception {
    switch (a[0]) {
      case "implicit" -> implicit(a[1], a[2], a[3], Integer.parseInt(a[4]), Integer.parseInt(a[5]));
      case "explicit" -> explicit(a[1], a[2], a[3], Integer.parseInt(a[4]));
      case "hold" -> hold(a[1], a[2], a[3]);
      case "reset" -> reset(a[1], a[2], a[3], Integer.parseInt(a[4]));
      case "describe" -> describe(a[1], a[2]);
      default -> throw new IllegalArgumentException(a[0]);
    }
  }

  static KafkaShareConsumer<String, String> consumer(String bootstrap, String group, String mode) {
    return new KafkaShareConsumer<>(Map.of("bootstrap.servers", bootstrap, "group.id", group,
        "share.acknowledgement.mode", mode), new StringDeserializer(), new StringDeserializer());
  }

  /** Several members take records until all count are taken; acknowledged by the next poll. Prints every value. */
  static void implicit(String bootstrap, String topic, String group, int count, int members) throws Exception {
    var taken = new AtomicInteger();
    var lines = Collections.synchronizedList(new ArrayList<String>());
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < members; i++) {
      var t = new Thread(() -> {
        try (var c = consumer(bootstrap, group, "implicit")) {
          c.subscribe(List.of(topic));
          while (taken.get() < count) {
            for (var r : c.poll(Duration.ofMillis(200))) {
              lines.add(r.value());
              taken.incrementAndGet();
            }
          }
          c.commitSync();
        }
      });
      t.start();
      threads.add(t);
    }
    for (var t : threads) t.join();
    lines.forEach(System.out::println);
  }

  /** Every value's number modulo 3 says what is done: accepted, released the first time, rejected. Prints value and delivery count. */
  static void explicit(String bootstrap, String topic, String group, int count) {
    try (var c = consumer(bootstrap, group, "explicit")) {
      var failed = new ArrayList<String>();
      c.setAcknowledgementCommitCallback((offsets, e) -> { if (e != null) failed.add(e.toString()); });
      c.subscribe(List.of(topic));
      int settled = 0;
      while (settled < count) {
        for (var r : c.poll(Duration.ofMillis(200))) {
          int n = Integer.parseInt(r.value()), deliveries = r.deliveryCount().get();
          System.out.println(n + " " + deliveries);
          if (n % 3 == 1 && deliveries == 1) {
            c.acknowledge(r, AcknowledgeType.RELEASE);
          } else {
            c.acknowledge(r, n % 3 == 2 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT);
            settled++;
          }
        }
        c.commitSync().forEach((tp, e) -> e.ifPresent(x -> failed.add(x.toString())));
      }
      failed.forEach(f -> System.out.println("failed " + f));
    }
  }

  /** Takes records, says how many, and keeps them without an acknowledgement until it is killed. */
  static void hold(String bootstrap, String topic, String group) {
    try (var c = consumer(bootstrap, group, "explicit")) {
      c.subscribe(List.of(topic));
      ConsumerRecords<String, String> got;
      do got = c.poll(Duration.ofMillis(200)); while (got.isEmpty());
      System.out.println(got.count());
      System.out.flush();
      while (true) Thread.onSpinWait();
    }
  }

  /** The group, which has no members, begins at the first offset of the topic's partitions. */
  static void reset(String bootstrap, String topic, String group, int partitions) throws Exception {
    try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      var starts = new HashMap<TopicPartition, Long>();
      for (int p = 0; p < partitions; p++) starts.put(new TopicPartition(topic, p), 0L);
      admin.alterShareGroupOffsets(group, starts).all().get();
    }
  }

  static void describe(String bootstrap, String group) throws Exception {
    try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      var d = admin.describeShareGroups(List.of(group)).all().get().get(group);
      System.out.println(d.groupState() + " " + d.members().size());
      var offsets = admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetAndMetadata(group).get();
      offsets.forEach((tp, o) -> System.out.println(tp + " " + (o == null ? "-" : o.offset())));
      System.out.println(admin.listGroups(ListGroupsOptions.forShareGroups()).all().get().stream().map(GroupListing::groupId).toList());
    }
  }
}
