package configs

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterResources carries out the resources of an alter request one after the other, and has each answered. change is
// alterConfigsOf's, for the i-th of them. An error is ctx's.
func (h *Handlers) alterResources(ctx context.Context, r *api.Request, resources []configResource, validateOnly bool,
	change func(i int, present map[string]string) (map[string]string, error), answer func(i int, code int16, message *string),
) error {
	times := map[configResource]int{}
	for _, res := range resources {
		times[res]++
	}
	for i, res := range resources {
		var err error = errDuplicateConfigResource
		if times[res] == 1 {
			err = h.alterConfigsOf(ctx, r, res.kind, res.name, validateOnly, func(present map[string]string) (map[string]string, error) {
				return change(i, present)
			})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		code, message := h.Fault(err)
		answer(i, code, message)
	}
	return nil
}

// alterConfigsOf carries out one resource of an alter request. change makes the new
// explicitly set configs from the present ones, which it must not modify; it is
// called again when another change came first.
func (h *Handlers) alterConfigsOf(ctx context.Context, r *api.Request, kind kmsg.ConfigResourceType, name string, validateOnly bool, change func(present map[string]string) (map[string]string, error)) error {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
	case configResourceTypeGroup:
		return h.alterGroupConfigs(ctx, r, name, validateOnly, change)
	case kmsg.ConfigResourceTypeBroker:
		may := h.Allowed(r, auth.AlterConfigs, api.ClusterResource)
		if may || h.Auth.Open() && h.Allowed(r, auth.Alter, api.ClusterResource) {
			// Removing what is not set changes nothing: kafka-reassign-partitions does that
			// to the limits that it may have set before.
			if next, err := change(nil); err == nil && len(next) == 0 {
				return nil
			}
		}
		if !may {
			return kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
		}
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "The broker's configs are options of the server and cannot be changed while it runs.")
	default:
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Configs of resource type %d cannot be changed.", kind)
	}
	if name == "" {
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "The name of the topic is empty.")
	}
	if !state.ValidTopicName(name) {
		return kafkaerr.Faultf(kafkaerr.InvalidTopic, "The topic name is invalid.")
	}
	topic, code := h.Resolve(r, h.Store.Topics(), api.TopicRef{Name: name}, false, auth.AlterConfigs)
	if code != kafkaerr.None {
		return kafkaerr.Faultf(code, "%s", topicFault(code))
	}
	for range api.ChangeAttempts {
		configs, err := change(topic.Configs)
		if err != nil {
			return err
		}
		if err := h.CheckTopic(configs); err != nil {
			return err
		}
		if validateOnly {
			return nil
		}
		result, err := h.Commit(ctx, state.SetTopicConfigs{ID: topic.ID, ExpectVersion: topic.ConfigVersion, Configs: configs})
		now, err := api.TopicOf(api.Answer[any]{Value: result, Err: err})
		if errors.Is(err, state.ErrVersionMismatch) {
			topic = now
			continue
		}
		return err
	}
	return kafkaerr.Faultf(kafkaerr.RequestTimedOut, "The configs changed again and again meanwhile.")
}

// configResource identifies a resource in a request, which may name it only once.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

var errDuplicateConfigResource = kafkaerr.Faultf(kafkaerr.InvalidRequest, "Each resource must appear at most once.")
