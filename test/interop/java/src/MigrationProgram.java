import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/**
 * Rolls groups of three consumers from the classic protocol to the consumer protocol and back, while records are
 * written: MigrationProgram BOOTSTRAP TOPIC, which has six partitions. Each argument from there on is an
 * assignor of the classic protocol, and has a group of its own. Prints what each group went through, and what went wrong.
 */
public class MigrationProgram {
  static final int PARTITIONS = 6, MEMBERS = 3;
  static String bootstrap, topic;
  static final AtomicBoolean writing = new AtomicBoolean(true);
  static final AtomicLong written = new AtomicLong();

  public static void main(String[] a) throws Exception {
    bootstrap = a[0];
    topic = a[1];
    try {
      var pool = Executors.newCachedThreadPool();
      var writer = pool.submit(() -> { write(); return null; });
      List<java.util.concurrent.Future<String>> groups = new ArrayList<>();
      for (String assignor : List.of(a).subList(2, a.length)) groups.add(pool.submit(() -> new Group(assignor).roll()));
      for (var g : groups) System.out.println(g.get());
      writer.get();
    } finally {
      System.out.flush();
      System.exit(0); // whatever hangs, does not hang the test
    }
  }

  static void write() throws Exception {
    Map<String, Object> conf = Map.of("bootstrap.servers", bootstrap, "linger.ms", 0);
    try (var p = new KafkaProducer<>(conf, new StringSerializer(), new StringSerializer())) {
      for (int i = 0; writing.get(); i++) {
        p.send(new ProducerRecord<>(topic, i % PARTITIONS, null, "" + i)).get();
        written.incrementAndGet();
        Thread.sleep(5);
      }
    }
  }

  static class Group {
    final String assignor, id;
    final ConcurrentHashMap<Integer, String> owners = new ConcurrentHashMap<>();
    final ConcurrentHashMap<String, AtomicInteger> taken = new ConcurrentHashMap<>();
    final AtomicInteger shared = new AtomicInteger(), lost = new AtomicInteger();
    final Deque<Member> members = new ArrayDeque<>();
    final List<String> types = new ArrayList<>();

    Group(String assignor) {
      this.assignor = assignor;
      this.id = "migrating-" + assignor.substring(assignor.lastIndexOf('.') + 1);
    }

    String roll() throws Exception {
      for (int i = 0; i < MEMBERS; i++) members.add(new Member(this, "classic"));
      settle("classic");
      for (String protocol : List.of("consumer", "classic"))
        for (int i = 0; i < MEMBERS; i++) {
          members.add(new Member(this, protocol));
          settle(protocol);
          members.remove().stop();
          settle(protocol);
        }
      writing.set(false);
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (taken.size() < written.get() && System.nanoTime() < until) Thread.sleep(50);
      for (Member m : members) m.stop();
      long twice = taken.values().stream().filter(n -> n.get() > 1).count();
      return id + " types=" + types + " missing=" + (written.get() - taken.size()) + " twice=" + twice + " shared=" + shared + " lost=" + lost;
    }

    /** Waits until all partitions have an owner and every member has some, and notes of what type the group is. */
    void settle(String protocol) throws Exception {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (owners.size() < PARTITIONS || members.stream().anyMatch(m -> !owners.containsValue(m.name))) {
        if (System.nanoTime() > until) throw new IllegalStateException(id + " does not settle: " + owners + " of " + members.stream().map(m -> m.name).toList());
        Thread.sleep(20);
      }
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
        String type = admin.listGroups().all().get().stream().filter(g -> g.groupId().equals(id)).map(g -> g.type().get().toString()).findFirst().get();
        if (types.isEmpty() || !types.get(types.size() - 1).equals(type)) types.add(type);
      }
    }
  }

  static class Member implements ConsumerRebalanceListener {
    static final AtomicInteger count = new AtomicInteger();
    final Group group;
    final String name;
    final KafkaConsumer<String, String> consumer;
    final Thread thread;

    Member(Group group, String protocol) {
      this.group = group;
      name = protocol + "-" + count.incrementAndGet();
      Map<String, Object> conf = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", group.id, "group.protocol", protocol,
          "client.id", name, "auto.offset.reset", "earliest", "enable.auto.commit", false));
      if (protocol.equals("classic")) conf.putAll(Map.of("partition.assignment.strategy", group.assignor, "heartbeat.interval.ms", 300));
      consumer = new KafkaConsumer<>(conf, new StringDeserializer(), new StringDeserializer());
      thread = new Thread(this::run, name);
      thread.start();
    }

    void run() {
      consumer.subscribe(List.of(topic), this);
      try {
        while (true) {
          for (var r : consumer.poll(Duration.ofMillis(50))) {
            if (!name.equals(group.owners.get(r.partition()))) group.shared.incrementAndGet();
            group.taken.computeIfAbsent(r.partition() + "/" + r.offset(), k -> new AtomicInteger()).incrementAndGet();
          }
          commit();
        }
      } catch (WakeupException e) {
        consumer.close();
      }
    }

    /** False: the member's epoch rose while the commit was on its way, which the next one knows. */
    boolean commit() {
      try {
        consumer.commitSync();
        return true;
      } catch (CommitFailedException | RebalanceInProgressException e) {
        return false;
      }
    }

    void stop() throws InterruptedException {
      consumer.wakeup();
      thread.join();
    }

    @Override public void onPartitionsAssigned(Collection<TopicPartition> parts) {
      for (var p : parts) if (group.owners.putIfAbsent(p.partition(), name) != null) group.shared.incrementAndGet();
    }

    @Override public void onPartitionsRevoked(Collection<TopicPartition> parts) {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (!parts.isEmpty() && !commit() && System.nanoTime() < until) Thread.yield();
      for (var p : parts) group.owners.remove(p.partition(), name);
    }

    @Override public void onPartitionsLost(Collection<TopicPartition> parts) {
      group.lost.addAndGet(parts.size());
      for (var p : parts) group.owners.remove(p.partition(), name);
    }
  }
}
