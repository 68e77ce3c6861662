package main

import (
	"context"
	"fmt"

	"millrace/internal/client"
	"millrace/internal/config"
	"millrace/server"
)

type serveCommand struct{ config.Serve }

func (*serveCommand) Help() string {
	return `Runs until SIGINT or SIGTERM, then drains and checkpoints. Until a user exists it serves loopback
only, and everyone there may do everything with data.

Once a user exists, who has not logged in may do nothing that ANONYMOUS was not granted: on MySQL
with a password over TLS, on Kafka with SASL SCRAM-SHA-256, SCRAM-SHA-512 or, over TLS or from this
machine, PLAIN. Kafka clients may log in on every listener; on sasl and sasl+tls ones they must.

A flag wins over its MILLRACE_* variable, that over the --config file, the file over the default.
The file has the flags' names as keys; kafka is a list of listeners.

Examples:
  millrace serve
  millrace serve --data /var/lib/millrace --config /etc/millrace.yaml
  millrace serve --kafka 127.0.0.1:9092 --kafka 'sasl+tls://0.0.0.0:9093?advertised=kafka.example.com:9093' --tls-cert cert.pem --tls-key key.pem`
}

func (c *serveCommand) Run(ctx context.Context, s *client.IO) error {
	o, err := c.Options(version, s.Err)
	if err != nil {
		return err
	}
	return server.Run(ctx, o)
}

type versionCommand struct{}

func (*versionCommand) Help() string {
	return `Example:
  millrace version`
}

func (*versionCommand) Run(s *client.IO) error {
	_, err := fmt.Fprintln(s.Out, "millrace", version)
	return err
}
