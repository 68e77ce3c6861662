"""What the Python client programs share: the command line and the stop signal.

Every client program, in whatever language, takes the same three commands:

    create  BOOTSTRAP TOPIC PARTITIONS
    produce BOOTSTRAP TOPIC FIRST COUNT     values {"n":FIRST}.. with keys k0..k9
    consume BOOTSTRAP TOPIC GROUP           until SIGTERM; commits, then leaves

consume prints "ASSIGNED p,p,.." after each rebalance (on either stream) and
"RECORD partition offset value" per record. Settings are the client's defaults, except that a new
group starts at the earliest offset.
"""
import signal
import sys

stop = False


def _stop(*_):
    global stop
    stop = True


def say(*words):
    print(*words, flush=True)


def stopped():
    return stop


def main(create, produce, consume):
    signal.signal(signal.SIGTERM, _stop)
    command, bootstrap, topic, *rest = sys.argv[1:]
    if command == "create":
        create(bootstrap, topic, int(rest[0]))
    elif command == "produce":
        first, count = map(int, rest)
        produce(bootstrap, topic, [(f"k{i % 10}".encode(), f'{{"n":{i}}}'.encode()) for i in range(first, first + count)])
    elif command == "consume":
        consume(bootstrap, topic, rest[0])
    else:
        sys.exit(f"unknown command {command}")
