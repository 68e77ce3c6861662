package kafka

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// configChangeAttempts bounds how often a change of configs is tried again because
// another one came first. Each of those made progress, so this is never reached by bad luck.
const configChangeAttempts = 100

// alterResources carries out the resources of an alter request one after the other, and has each answered. change is
// alterConfigsOf's, for the i-th of them. An error is ctx's.
func (s *Server) alterResources(ctx context.Context, r *request, resources []configResource, validateOnly bool,
	change func(i int, present map[string]string) (map[string]string, error), answer func(i int, code int16, message *string),
) error {
	times := map[configResource]int{}
	for _, res := range resources {
		times[res]++
	}
	for i, res := range resources {
		var err error = errDuplicateConfigResource
		if times[res] == 1 {
			err = s.alterConfigsOf(ctx, r, res.kind, res.name, validateOnly, func(present map[string]string) (map[string]string, error) {
				return change(i, present)
			})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		code, message := s.describeError(err)
		answer(i, code, message)
	}
	return nil
}

// alterConfigsOf carries out one resource of an alter request. change makes the new
// explicitly set configs from the present ones, which it must not modify; it is
// called again when another change came first.
func (s *Server) alterConfigsOf(ctx context.Context, r *request, kind kmsg.ConfigResourceType, name string, validateOnly bool, change func(present map[string]string) (map[string]string, error)) error {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
	case configResourceTypeGroup:
		return s.alterGroupConfigs(ctx, r, name, validateOnly, change)
	case kmsg.ConfigResourceTypeBroker:
		may := s.allowed(r, auth.AlterConfigs, clusterResource)
		if may || s.o.Auth.Open() && s.allowed(r, auth.Alter, clusterResource) {
			// Removing what is not set changes nothing: kafka-reassign-partitions does that
			// to the limits that it may have set before.
			if next, err := change(nil); err == nil && len(next) == 0 {
				return nil
			}
		}
		if !may {
			return adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed.")
		}
		return adminErrorf(errInvalidRequest, "The broker's configs are options of the server and cannot be changed while it runs.")
	default:
		return adminErrorf(errInvalidRequest, "Configs of resource type %d cannot be changed.", kind)
	}
	if name == "" {
		return adminErrorf(errInvalidRequest, "The name of the topic is empty.")
	}
	if !state.ValidTopicName(name) {
		return adminErrorf(errInvalidTopic, "The topic name is invalid.")
	}
	topic, code := s.resolve(r, s.o.Store.Topics(), topicRef{name: name}, false, auth.AlterConfigs)
	if code != errNone {
		return adminErrorf(code, "%s", topicFault(code))
	}
	for range configChangeAttempts {
		configs, err := change(topic.Configs)
		if err != nil {
			return err
		}
		if err := s.checkConfigs(configs); err != nil {
			return err
		}
		if validateOnly {
			return nil
		}
		result, err := s.commit(ctx, state.SetTopicConfigs{ID: topic.ID, ExpectVersion: topic.ConfigVersion, Configs: configs})
		now, err := topicOf(answer[any]{result, err})
		if errors.Is(err, state.ErrVersionMismatch) {
			topic = now
			continue
		}
		return err
	}
	return adminErrorf(errRequestTimedOut, "The configs changed again and again meanwhile.")
}

// configResource identifies a resource in a request, which may name it only once.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

var errDuplicateConfigResource = adminErrorf(errInvalidRequest, "Each resource must appear at most once.")
