"""flink run -py upper.py CONNECTOR_JAR BOOTSTRAP FROM TO: copies a topic in upper case, exactly
once and by a Python function."""
import sys

from pyflink.common import Configuration, SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource)


def main():
    connector, bootstrap, source, sink = sys.argv[1:]
    conf = Configuration()
    for key, value in {
            "execution.checkpointing.interval": "400ms",
            "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": "500ms"}.items():
        conf.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    env.set_parallelism(1)
    env.add_jars(f"file://{connector}")
    read = (KafkaSource.builder().set_bootstrap_servers(bootstrap).set_topics(source).set_group_id(f"flink-{sink}")
            .set_starting_offsets(KafkaOffsetsInitializer.earliest()).set_value_only_deserializer(SimpleStringSchema()).build())
    write = (KafkaSink.builder().set_bootstrap_servers(bootstrap)
             .set_record_serializer(KafkaRecordSerializationSchema.builder().set_topic(sink)
                                    .set_value_serialization_schema(SimpleStringSchema()).build())
             .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix(f"upper-{sink}").build())
    (env.from_source(read, WatermarkStrategy.no_watermarks(), "in")
        .map(lambda v: v.upper(), output_type=Types.STRING()).sink_to(write))
    env.execute("upper in Python")


if __name__ == "__main__":
    main()
