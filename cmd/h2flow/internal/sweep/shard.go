package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// A Shard is one of several equal parts of a plan. The zero value is the whole.
type Shard struct {
	Number, Of int // 1 to Of
}

// ParseShard reads "3/16": the third of sixteen.
func ParseShard(s string) (Shard, error) {
	number, of, ok := strings.Cut(s, "/")
	n, err1 := strconv.Atoi(number)
	m, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%q is no shard (want one like 3/16)", s)
	}
	if m < 1 || n < 1 || n > m {
		return Shard{}, fmt.Errorf("there is no shard %d of %d: they count from 1", n, m)
	}
	return Shard{n, m}, nil
}

// String is what ParseShard reads, or empty for the whole.
func (s Shard) String() string {
	if s.whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

func (s Shard) whole() bool { return s.Of == 0 }

// has says whether the cell with this index belongs to the shard. Neighbours, which take about as long, go to different
// shards.
func (s Shard) has(index int) bool { return s.whole() || index%s.Of == s.Number-1 }

// journal is the name of the shard's journal.
func (s Shard) journal() string {
	if s.whole() {
		return "journal.jsonl"
	}
	return fmt.Sprintf("journal-%d-of-%d.jsonl", s.Number, s.Of)
}
