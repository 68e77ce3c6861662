package rowrecord

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// cellWriter turns SQL values into members of JSON values, exactly and strictly: what a column cannot hold
// is an error with MySQL's number, whatever sql_mode says, since a log has no second chance.
type cellWriter struct {
	ctx  *sql.Context
	zone *sqltable.Zone // the session's, for TIMESTAMP
}

// place is where a value goes, for messages.
type place struct {
	column string
	row    int64 // from 1
}

func (p place) wrong(kind string, v any) error {
	return sqlerr.New(1366, "HY000", "Incorrect %s value: '%s' for column '%s' at row %d", kind, clipValue(v), p.column, p.row)
}

func (p place) wrongTime(kind string, v any) error {
	return sqlerr.New(1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %d", kind, clipValue(v), p.column, p.row)
}

func (p place) truncated() error {
	return sqlerr.New(1265, "01000", "Data truncated for column '%s' at row %d", p.column, p.row)
}

func (p place) outOfRange() error {
	return sqlerr.New(1264, "22003", "Out of range value for column '%s' at row %d", p.column, p.row)
}

func (p place) tooLong() error {
	return sqlerr.New(1406, "22001", "Data too long for column '%s' at row %d", p.column, p.row)
}

func (p place) null() error {
	return sqlerr.New(1048, "23000", "Column '%s' cannot be null", p.column)
}

// clipValue words a refused value for a message.
func clipValue(v any) string {
	s, ok := PlainText(v)
	if !ok {
		s = fmt.Sprint(v)
	}
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}

// append adds v, of SQL type from, to dst as the JSON value that column col reads back as v.
func (w *cellWriter) append(dst []byte, col *blobexpand.Column, v any, from sql.Type, at place) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	v, err := w.plain(v, from)
	if err != nil {
		return nil, err
	}
	t := &col.Type
	switch t.Kind {
	case blobexpand.Bool:
		n, err := exactInteger(v, at)
		if err != nil {
			return nil, err
		}
		switch {
		case n.IsZero():
			return append(dst, "false"...), nil
		case n.Equal(decimal.New(1, 0)):
			return append(dst, "true"...), nil
		}
		return nil, at.outOfRange()
	case blobexpand.Int64, blobexpand.Uint64:
		n, err := exactInteger(v, at)
		if err != nil {
			return nil, err
		}
		if !fitsInteger(t, n) {
			return nil, at.outOfRange()
		}
		return append(dst, n.String()...), nil
	case blobexpand.Year:
		n, err := exactInteger(v, at)
		if err != nil {
			return nil, err
		}
		y, ok := yearOf(n)
		if !ok {
			return nil, at.outOfRange()
		}
		return strconv.AppendInt(dst, y, 10), nil
	case blobexpand.Decimal:
		n, err := exactNumber(v, "decimal", at)
		if err != nil {
			return nil, err
		}
		n = n.Round(int32(t.Scale))
		if n.Abs().GreaterThanOrEqual(decimal.New(1, int32(t.Precision)-int32(t.Scale))) {
			return nil, at.outOfRange()
		}
		return append(dst, n.StringFixed(int32(t.Scale))...), nil
	case blobexpand.Float64:
		return appendFloat(dst, t, v, at)
	case blobexpand.Text:
		s, err := w.textFor(col, v, from, at)
		if err != nil {
			return nil, err
		}
		return jsonval.AppendQuoted(dst, s), nil
	case blobexpand.Binary:
		s, ok := PlainText(v)
		if !ok {
			return nil, at.wrong("binary", v)
		}
		if t.Length > 0 && len(s) > t.Length {
			return nil, at.tooLong()
		}
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(s))
		return append(dst, '"'), nil
	case blobexpand.JSON:
		return appendJSON(dst, v, at)
	case blobexpand.Date, blobexpand.DateTime, blobexpand.Timestamp:
		return w.appendTime(dst, t, v, at)
	case blobexpand.Time:
		span, _, err := types.Time.Convert(w.ctx, v)
		d, ok := span.(types.Timespan)
		if err != nil || !ok {
			return nil, at.wrongTime("time", v)
		}
		return append(append(append(dst, '"'), spanText(int64(d), t.FSP)...), '"'), nil
	}
	return nil, sqlerr.Unsupported("INSERT into column " + col.Name)
}

// plain takes what the engine wraps off a value, and makes ENUM and SET values of their numbers text.
func (w *cellWriter) plain(v any, from sql.Type) (any, error) {
	v, err := sql.UnwrapAny(w.ctx, v)
	if err != nil {
		return nil, err
	}
	switch t := from.(type) {
	case sql.EnumType:
		if n, ok := v.(uint16); ok {
			if s, ok := t.At(int(n)); ok {
				return s, nil
			}
		}
	case sql.SetType:
		if n, ok := v.(uint64); ok {
			return t.BitsToString(n)
		}
	}
	return v, nil
}

// PlainText is a value as text without any conversion that depends on the session.
func PlainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case bool:
		if v {
			return "1", true
		}
		return "0", true
	case sql.JSONWrapper:
		text, err := sqltable.TextOfJSON(v)
		return string(text), err == nil
	case time.Time:
		return dateTimeText(v), true
	case types.Timespan:
		return spanText(int64(v), 6), true
	case decimal.Decimal:
		return v.StringFixed(max(0, -v.Exponent())), true
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// maxNumberText bounds the spelling of a number in a string, and maxExponent its powers of ten: nothing
// longer fits any column, and to write it out would cost memory.
const (
	maxNumberText = 400
	maxExponent   = 400
)

// exactNumber is the exact number that v is or spells; kind names what was expected.
func exactNumber(v any, kind string, at place) (decimal.Decimal, error) {
	switch v := v.(type) {
	case decimal.Decimal:
		return v, nil
	case float64:
		return floatNumber(v, at)
	case float32:
		n, err := decimal.NewFromString(strconv.FormatFloat(float64(v), 'g', -1, 32))
		if err != nil {
			return n, at.outOfRange()
		}
		return n, nil
	case time.Time:
		n, err := decimal.NewFromString(strings.TrimSuffix(v.Format("20060102150405.000000"), ".000000"))
		if err != nil {
			return n, at.wrong(kind, v)
		}
		return n, nil
	case types.Timespan:
		s := strings.TrimSuffix(strings.ReplaceAll(spanText(int64(v), 6), ":", ""), ".000000")
		n, err := decimal.NewFromString(s)
		if err != nil {
			return n, at.wrong(kind, s)
		}
		return n, nil
	}
	s, ok := PlainText(v)
	if !ok {
		return decimal.Decimal{}, at.wrong(kind, v)
	}
	if j, ok := v.(sql.JSONWrapper); ok {
		s = jsonScalar(j, s)
	}
	s = strings.Trim(s, " \t\r\n\v\f")
	n, rest, ok := LeadingNumber(s)
	switch {
	case !ok && rest == "":
		return n, at.outOfRange()
	case !ok:
		return n, at.wrong(kind, s)
	case rest != "":
		return n, at.truncated()
	}
	return n, nil
}

// LeadingNumber reads the number that s begins with. ok is false where there is none; rest is then s, or
// empty where the number is too large to write out.
func LeadingNumber(s string) (n decimal.Decimal, rest string, ok bool) {
	i, digits := 0, 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for ; i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' && !strings.Contains(s[:i], ".")); i++ {
		if s[i] != '.' {
			digits++
		}
	}
	if digits == 0 {
		return n, s, false
	}
	end := i
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		from := j
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		if j > from {
			if e, err := strconv.Atoi(s[from:j]); err != nil || e > maxExponent {
				return n, "", false
			}
			end = j
		}
	}
	if end > maxNumberText {
		return n, "", false
	}
	text := strings.TrimPrefix(s[:end], "+")
	n, err := decimal.NewFromString(strings.TrimSuffix(text, "."))
	if err != nil {
		return n, s, false
	}
	return n, s[end:], true
}

// jsonScalar is the text of a JSON string without its quotes, or the text as it is.
func jsonScalar(j sql.JSONWrapper, text string) string {
	v, err := jsonval.Parse([]byte(text))
	if err != nil {
		return text
	}
	switch v.Kind() {
	case jsonval.StringKind:
		if b, err := v.Unquote(); err == nil {
			return string(b)
		}
	case jsonval.Bool:
		if text == "true" {
			return "1"
		}
		return "0"
	}
	return text
}

func floatNumber(f float64, at place) (decimal.Decimal, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return decimal.Decimal{}, at.outOfRange()
	}
	n, err := decimal.NewFromString(strconv.FormatFloat(f, 'g', -1, 64))
	if err != nil {
		return n, at.outOfRange()
	}
	return n, nil
}

// exactInteger is exactNumber rounded half away from zero; doubles half to even, as MySQL does.
func exactInteger(v any, at place) (decimal.Decimal, error) {
	n, err := exactNumber(v, "integer", at)
	if err != nil {
		return n, err
	}
	if n.Exponent() >= 0 {
		return n.Round(0), nil
	}
	switch v.(type) {
	case float32, float64:
		return n.RoundBank(0), nil
	}
	return n.Round(0), nil
}

func fitsInteger(t *blobexpand.Type, n decimal.Decimal) bool {
	bits := uint(t.Bits)
	if bits == 0 || bits > 64 {
		bits = 64
	}
	b := n.BigInt()
	if t.Kind == blobexpand.Uint64 {
		return b.Sign() >= 0 && b.BitLen() <= int(bits)
	}
	if !b.IsInt64() {
		return false
	}
	limit := int64(math.MaxInt64) >> (64 - bits)
	return b.Int64() <= limit && b.Int64() >= -limit-1
}

// yearOf reads a YEAR: 0, 1901 to 2155, or two digits.
func yearOf(n decimal.Decimal) (int64, bool) {
	b := n.BigInt()
	if !b.IsInt64() {
		return 0, false
	}
	y := b.Int64()
	switch {
	case y == 0 || y >= 1901 && y <= 2155:
		return y, true
	case y >= 1 && y <= 69:
		return 2000 + y, true
	case y >= 70 && y <= 99:
		return 1900 + y, true
	}
	return 0, false
}

func appendFloat(dst []byte, t *blobexpand.Type, v any, at place) ([]byte, error) {
	size := 64
	if t.Bits == 32 {
		size = 32
	}
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case float32:
		f = float64(v)
	default:
		n, err := exactNumber(v, "double", at)
		if err != nil {
			return nil, err
		}
		if f, err = strconv.ParseFloat(n.String(), size); err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, at.wrong("double", v)
		}
	}
	if size == 32 {
		f = float64(float32(f))
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, at.outOfRange()
	}
	return sqltable.AppendDouble(dst, f, size), nil
}

// textFor is the text of v for a text column, if it fits.
func (w *cellWriter) textFor(col *blobexpand.Column, v any, from sql.Type, at place) (string, error) {
	t := &col.Type
	s, ok := PlainText(v)
	if tm, is := v.(time.Time); is && from != nil {
		s = typedTimeText(tm, from)
	}
	if !ok {
		return "", at.wrong("string", v)
	}
	if !utf8.ValidString(s) {
		for i, r := range s {
			if r == utf8.RuneError {
				return "", at.wrong("string", fmt.Sprintf(`\x%X`, s[i]))
			}
		}
	}
	if !col.Declared {
		return s, nil // an inferred column grows with its values
	}
	if t.Enum != nil {
		for _, e := range t.Enum {
			if strings.EqualFold(e, s) {
				return e, nil
			}
		}
		switch v.(type) {
		case string, []byte:
			return "", at.truncated()
		}
		if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= len(t.Enum) {
			return t.Enum[n-1], nil
		}
		return "", at.truncated()
	}
	if t.Length > 0 && len(s) > t.Length && (t.Length > blobexpand.InferredTextLength || utf8.RuneCountInString(s) > t.Length) {
		return "", at.tooLong()
	}
	return s, nil
}

// appendJSON adds a JSON value: that of a JSON expression, or the one that a string spells.
func appendJSON(dst []byte, v any, at place) ([]byte, error) {
	s, ok := PlainText(v)
	if !ok || !jsonval.Valid([]byte(s)) {
		return nil, sqlerr.New(3140, "22032", "Invalid JSON text: \"%s\" for column '%s' at row %d", clipValue(v), at.column, at.row)
	}
	start, end := jsonval.Text([]byte(s))
	return append(dst, s[start:end]...), nil
}

// appendTime adds a date or time as ISO 8601 text, or as the epoch that the column is kept as.
func (w *cellWriter) appendTime(dst []byte, t *blobexpand.Type, v any, at place) ([]byte, error) {
	kind := "datetime"
	if t.Kind == blobexpand.Date {
		kind = "date"
	}
	wall, err := w.wallTime(v)
	if err != nil {
		return nil, at.wrongTime(kind, v)
	}
	if t.Kind == blobexpand.Date {
		return wall.AppendFormat(dst, `"2006-01-02"`), nil
	}
	micros := roundMicros(wall.UnixMicro(), t.FSP)
	zone := ""
	if t.Kind == blobexpand.Timestamp {
		micros, _ = w.instant(time.UnixMicro(micros).UTC())
		if micros < 1_000_000 || micros > math.MaxInt32*1_000_000+999_999 {
			return nil, at.wrongTime(kind, v)
		}
		zone = "Z"
	}
	switch t.Epoch {
	case blobexpand.EpochSeconds:
		return appendEpoch(dst, micros, 6), nil
	case blobexpand.EpochMillis:
		return appendEpoch(dst, micros, 3), nil
	case blobexpand.EpochMicros:
		return strconv.AppendInt(dst, micros, 10), nil
	case blobexpand.EpochNanos:
		return decimal.New(micros, 3).BigInt().Append(dst, 10), nil
	}
	at2 := time.UnixMicro(micros).UTC()
	if at2.Year() < 0 || at2.Year() > 9999 {
		return nil, at.wrongTime(kind, v)
	}
	dst = at2.AppendFormat(dst, `"2006-01-02T15:04:05`)
	if fraction := at2.Nanosecond() / 1000; fraction != 0 {
		dst = append(dst, strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")...)
	}
	return append(append(dst, zone...), '"'), nil
}

// wallTime reads a date and time: a value of the engine's, whose UTC fields are the session's wall time, or
// text in MySQL's forms.
func (w *cellWriter) wallTime(v any) (time.Time, error) {
	switch x := v.(type) {
	case time.Time:
		return x.UTC(), nil
	case []byte:
		v = string(x)
	case sqltable.JSONText:
		v = jsonScalar(x, string(x))
	}
	out, _, err := types.DatetimeMaxPrecision.Convert(w.ctx, v)
	if err != nil {
		return time.Time{}, err
	}
	t, ok := out.(time.Time)
	if !ok || t.IsZero() || t.Year() < 1 {
		return time.Time{}, errors.New("no date")
	}
	return t.UTC(), nil
}

// instant is the moment, in Unix microseconds, at which the session's clocks show wall; the earlier one
// where they do so twice.
func (w *cellWriter) instant(wall time.Time) (micros int64, exact bool) {
	earliest, latest, exact := w.zone.Instant(wall)
	if exact || w.zone.Wall(earliest).Equal(wall) {
		return earliest, true
	}
	return latest, w.zone.Wall(latest).Equal(wall)
}

// roundMicros rounds half up to fsp digits of a second.
func roundMicros(micros int64, fsp uint8) int64 {
	unit := int64(1)
	for range 6 - min(fsp, 6) {
		unit *= 10
	}
	half := micros + unit/2
	r := half % unit
	if r < 0 {
		r += unit
	}
	return half - r
}

// appendEpoch writes micros as a number with so many digits behind the point, without trailing zeroes.
func appendEpoch(dst []byte, micros int64, digits int32) []byte {
	return append(dst, decimal.New(micros, -digits).String()...)
}

func dateTimeText(t time.Time) string {
	s := t.Format("2006-01-02 15:04:05.000000")
	return strings.TrimSuffix(s, ".000000")
}

// typedTimeText is a time as its SQL type shows it.
func typedTimeText(t time.Time, from sql.Type) string {
	if types.IsDateType(from) {
		return t.Format("2006-01-02")
	}
	if d, ok := from.(sql.DatetimeType); ok && types.IsDatetimeType(from) || types.IsTimestampType(from) {
		if p := d.Precision(); p > 0 {
			return t.Format("2006-01-02 15:04:05." + strings.Repeat("0", p))
		}
		return t.Format("2006-01-02 15:04:05")
	}
	return dateTimeText(t)
}

// spanText is a TIME, rounded to fsp digits, as MySQL writes it.
func spanText(micros int64, fsp uint8) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	micros = roundMicros(micros, fsp)
	s := fmt.Sprintf("%s%02d:%02d:%02d", sign, micros/3_600_000_000, micros/60_000_000%60, micros/1_000_000%60)
	if fsp > 0 {
		s += fmt.Sprintf(".%06d", micros%1_000_000)[:1+min(fsp, 6)]
	}
	return s
}

// InstantMillis reads a time in the session's zone as Unix ms.
func InstantMillis(ctx *sql.Context, text string) (int64, error) {
	zone, err := sqltable.SessionZone(ctx)
	if err != nil {
		return 0, err
	}
	w := &cellWriter{ctx: ctx, zone: zone}
	wall, err := w.wallTime(text)
	if err != nil {
		return 0, sqlerr.New(1292, "22007", "Incorrect datetime value: '%s'", clipValue(text))
	}
	micros, _ := w.instant(wall)
	return micros / 1000, nil
}
