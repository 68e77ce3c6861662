package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// How a level may change.
const (
	featureUpgrade         = 1
	featureSafeDowngrade   = 2
	featureUnsafeDowngrade = 3
)

const (
	featureKind   = "feature"
	featureKey    = "levels"
	featureFormat = 1
)

// featureLevels is the document of the levels that somebody chose.
type featureLevels struct {
	Format int              `json:"format"`
	Epoch  int64            `json:"epoch"` // rises with every change; 1 before the first
	Levels map[string]int16 `json:"levels"`
}

// UpdateFeatures serves UpdateFeatures 0–2: all updates or none.
func (h *Handlers) UpdateFeatures(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.UpdateFeaturesRequest)
	resp := req.ResponseKind().(*kmsg.UpdateFeaturesResponse)
	err := h.changeFeatures(ctx, r, req)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if resp.ErrorCode, resp.ErrorMessage = h.Fault(err); err != nil {
		return resp, nil
	}
	if r.Version <= 1 {
		for _, u := range req.FeatureUpdates {
			result := kmsg.NewUpdateFeaturesResponseResult()
			result.Feature = u.Feature
			resp.Results = append(resp.Results, result)
		}
	}
	return resp, nil
}

func (h *Handlers) changeFeatures(ctx context.Context, r *api.Request, req *kmsg.UpdateFeaturesRequest) error {
	if !h.Allowed(r, auth.Alter, api.ClusterResource) {
		return kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
	}
	seen := map[string]bool{}
	for _, u := range req.FeatureUpdates {
		switch {
		case u.Feature == "":
			return kafkaerr.Faultf(kafkaerr.InvalidUpdateVersion, "Found empty feature name.")
		case seen[u.Feature]:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Provided feature updates contain duplicate feature name: %s.", rarelog.Cut(u.Feature))
		}
		seen[u.Feature] = true
	}
	for range api.ChangeAttempts {
		present, version := h.featureLevels()
		next := featureLevels{Format: featureFormat, Epoch: present.Epoch + 1, Levels: maps.Clone(present.Levels)}
		if next.Levels == nil {
			next.Levels = map[string]int16{}
		}
		changed := false
		for _, u := range req.FeatureUpdates {
			kind := int(u.UpgradeType)
			if r.Version == 0 {
				if kind = featureUpgrade; u.AllowDowngrade {
					kind = featureSafeDowngrade
				}
			}
			now, err := h.checkFeature(u.Feature, u.MaxVersionLevel, kind)
			if err != nil {
				return err
			}
			changed = changed || now != u.MaxVersionLevel
			next.Levels[u.Feature] = u.MaxVersionLevel
		}
		if req.ValidateOnly || !changed {
			return nil
		}
		data, err := json.Marshal(next)
		if err != nil {
			return err
		}
		res, err := api.CommitAs[state.DocumentResult](ctx, h.Node, state.PutDocument{Kind: featureKind, Key: featureKey, ExpectVersion: version, Data: data})
		if err != nil || !errors.Is(res.Err, state.ErrVersionMismatch) {
			return errors.Join(err, res.Err)
		}
	}
	return kafkaerr.Faultf(kafkaerr.RequestTimedOut, "The features changed again and again meanwhile.")
}

// checkFeature says whether a feature may go to a level from the one it has now.
func (h *Handlers) checkFeature(name string, level int16, kind int) (now int16, err error) {
	refuse := func(format string, args ...any) (int16, error) {
		return now, kafkaerr.Faultf(kafkaerr.InvalidUpdateVersion, "Invalid update version %d for feature %s. %s", level, rarelog.Cut(name), fmt.Sprintf(format, args...))
	}
	f, known := h.feature(name)
	if !known {
		return refuse("Local controller %d does not support this feature.", h.NodeID)
	}
	now = h.featureLevel(f)
	switch {
	case kind != featureUpgrade && kind != featureSafeDowngrade && kind != featureUnsafeDowngrade:
		return refuse("The controller does not support the given upgrade type.")
	case level < f.min || level > f.max:
		return refuse("Local controller %d only supports versions %d-%d", h.NodeID, f.min, f.max)
	case level < now && kind == featureUpgrade:
		return refuse("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.")
	case level > now && kind != featureUpgrade:
		return refuse("Can't downgrade to a newer version.")
	case level != now && f.fixed:
		return refuse("It is the format of this server's own log and cannot be changed.")
	}
	return now, nil
}
