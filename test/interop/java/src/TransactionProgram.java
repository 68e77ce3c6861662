import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/** Transactions with Apache Kafka's own client. */
public class TransactionProgram {
  public static void main(String[] a) throws Exception {
    switch (a[0]) {
      case "pairs" -> pairs(a[1], a[2], a[3], Integer.parseInt(a[4]));
      case "copy" -> copy(a[1], a[2], a[3], Integer.parseInt(a[4]));
      case "describe" -> describe(a[1], a[2], a[3]);
      default -> throw new IllegalArgumentException(a[0]);
    }
  }

  static KafkaProducer<String, String> producer(String bootstrap, String id) {
    return new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap, "transactional.id", id),
        new StringSerializer(), new StringSerializer());
  }

  /** Transactions that write one record to each of two topics; every third is aborted. Prints how many were committed. */
  static void pairs(String bootstrap, String one, String other, int count) {
    int committed = 0;
    try (var p = producer(bootstrap, "java-pairs")) {
      p.initTransactions();
      for (int i = 0; i < count; i++) {
        p.beginTransaction();
        String v = "{\"tx\":" + i + ",\"abort\":" + (i % 3 == 2) + "}";
        p.send(new ProducerRecord<>(one, v));
        p.send(new ProducerRecord<>(other, v));
        if (i % 3 == 2) {
          p.flush();
          p.abortTransaction();
        } else {
          p.commitTransaction();
          committed++;
        }
      }
    }
    System.out.println(committed);
  }

  /** Copies count records exactly once: offsets are committed with the records. */
  static void copy(String bootstrap, String from, String to, int count) {
    Map<String, Object> conf = Map.of("bootstrap.servers", bootstrap, "group.id", "java-copy", "auto.offset.reset", "earliest",
        "enable.auto.commit", false, "isolation.level", "read_committed", "max.poll.records", 37);
    int copied = 0;
    try (var c = new KafkaConsumer<>(conf, new StringDeserializer(), new StringDeserializer()); var p = producer(bootstrap, "java-copy")) {
      p.initTransactions();
      c.subscribe(List.of(from));
      for (int round = 0; copied < count; round++) {
        var records = c.poll(Duration.ofMillis(500));
        if (records.isEmpty()) continue;
        p.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (var r : records) {
          p.send(new ProducerRecord<>(to, r.key(), r.value()));
          offsets.put(new TopicPartition(r.topic(), r.partition()), new OffsetAndMetadata(r.offset() + 1));
        }
        p.sendOffsetsToTransaction(offsets, c.groupMetadata());
        if (round % 4 == 1) {
          p.abortTransaction();
          var committed = c.committed(c.assignment());
          for (var tp : c.assignment()) {
            var o = committed.get(tp);
            if (o == null) c.seekToBeginning(List.of(tp)); else c.seek(tp, o);
          }
        } else {
          p.commitTransaction();
          copied += records.count();
        }
      }
    }
    System.out.println(copied);
  }

  /** What the Admin says of a transaction that is open, and after it was aborted by an administrator. */
  static void describe(String bootstrap, String topic, String id) throws Exception {
    try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap)); var p = producer(bootstrap, id)) {
      p.initTransactions();
      p.beginTransaction();
      p.send(new ProducerRecord<>(topic, "open")).get();
      var d = admin.describeTransactions(List.of(id)).description(id).get();
      System.out.println(d.state() + " " + d.topicPartitions());
      var state = admin.describeProducers(List.of(new TopicPartition(topic, 0))).all().get()
          .get(new TopicPartition(topic, 0)).activeProducers().get(0);
      System.out.println(state.producerId() == d.producerId() ? "same producer" : "another producer");
      var listed = admin.listTransactions(new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING))).all().get();
      System.out.println(listed.stream().map(TransactionListing::transactionalId).toList());
      admin.abortTransaction(new AbortTransactionSpec(new TopicPartition(topic, 0), state.producerId(),
          (short) state.producerEpoch(), state.coordinatorEpoch().orElse(-1))).all().get();
      System.out.println(admin.describeTransactions(List.of(id)).description(id).get().state());
      admin.fenceProducers(List.of(id)).all().get();
      try {
        p.commitTransaction();
        System.out.println("committed");
      } catch (org.apache.kafka.common.KafkaException e) {
        System.out.println("fenced");
      }
    }
  }
}
