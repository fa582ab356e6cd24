package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A Store is the directory of a sweep: its plan, and journals of the cells that are finished, one for each shard.
// Journals of the same plan are all read, whichever shard wrote them, so that a sweep may be resumed with another number
// of shards.
type Store struct {
	dir      string
	id       string
	cells    int // of the whole plan
	shard    Shard
	journal  *os.File
	finished map[int]Outcome
	failed   error // of a write, after which the journal's end is not known
}

const manifestName = "sweep.json"

// ErrOtherPlan: the directory holds another sweep.
var ErrOtherPlan = errors.New("it holds another sweep; choose another directory, or remove this one")

// OpenStore opens the directory for writing, makes it if need be, and reads what is finished. The caller closes it.
// It fails with ErrOtherPlan if the directory is of another plan, and if another process writes the same shard.
func OpenStore(dir string, p Plan, shard Shard) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	m, text, err := p.manifest()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, id: idOf(text), cells: m.Cells, shard: shard, finished: make(map[int]Outcome)}
	if err := s.claim(text); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, shard.journal())
	if s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	if err := s.prepare(path); err != nil {
		s.journal.Close()
		return nil, err
	}
	return s, nil
}

// ReadStores reads what is finished of one sweep, which may be spread over several directories, and writes nothing. The
// directories say themselves which sweep it is.
func ReadStores(dirs ...string) (*Store, error) {
	var first []byte
	s := &Store{finished: make(map[int]Outcome)}
	for i, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, manifestName))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s holds no sweep: it has no %s", dir, manifestName)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			var m manifest
			if err := json.Unmarshal(text, &m); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
			}
			first, s.cells, s.id = text, m.Cells, idOf(text)
		}
		if !bytes.Equal(first, text) {
			return nil, fmt.Errorf("%s holds another sweep than %s", dir, dirs[0])
		}
		s.dir = dir
		if err := s.readAll(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// claim writes the plan, or checks that the one that is there is the same. Shards that start at once write the same.
func (s *Store) claim(want []byte) error {
	path := filepath.Join(s.dir, manifestName)
	got, err := os.ReadFile(path)
	if err == nil {
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %w", s.dir, ErrOtherPlan)
		}
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.CreateTemp(s.dir, "."+manifestName+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(want)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	// A link fails where the plan of another process has come first; it is compared then.
	if err = os.Link(f.Name(), path); errors.Is(err, os.ErrExist) {
		return s.claim(want)
	}
	if err != nil { // a file system without links
		err = os.Rename(f.Name(), path)
	}
	return err
}

// prepare locks the journal, cuts off what a kill has left of a last line, and reads all journals.
func (s *Store) prepare(path string) error {
	if err := lock(s.journal); err != nil {
		return fmt.Errorf("%s is in use by another process (%w)", path, err)
	}
	text, err := io.ReadAll(s.journal)
	if err != nil {
		return err
	}
	if whole := int64(bytes.LastIndexByte(text, '\n') + 1); whole < int64(len(text)) {
		if err := s.journal.Truncate(whole); err != nil {
			return err
		}
	}
	return s.readAll()
}

// readAll reads all journals of the directory. Lines that are cut short or of another plan are passed over.
func (s *Store) readAll() error {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(s.dir), "journal*.jsonl"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var o Outcome
			if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &o) != nil || o.Plan != s.id {
				continue
			}
			if _, ok := s.finished[o.Cell]; !ok {
				s.finished[o.Cell] = o
			}
		}
	}
	return nil
}

// escapeGlob makes of a path a pattern that matches only it.
func escapeGlob(path string) string {
	var b []byte
	for i := range len(path) {
		if bytes.IndexByte([]byte(`*?[`), path[i]) >= 0 {
			b = append(b, '[', path[i], ']')
			continue
		}
		b = append(b, path[i])
	}
	return string(b)
}

// Left is which of the plan's cells belong to the shard and are not finished.
func (s *Store) Left(cells []Cell) []Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool {
		_, done := s.finished[c.Index]
		return done || !s.shard.has(c.Index)
	})
}

// Add appends a finished cell to the journal. After an error nothing more is written.
func (s *Store) Add(o Outcome) error {
	if s.failed != nil {
		return s.failed
	}
	o.Plan = s.id
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := s.journal.Write(append(line, '\n')); err != nil {
		s.failed = err
		return err
	}
	s.finished[o.Cell] = o
	return nil
}

// Outcomes are the outcomes of all finished cells, in the plan's order, and how many are missing.
func (s *Store) Outcomes() (outcomes []Outcome, missing int) {
	for index := range s.cells {
		if o, ok := s.finished[index]; ok {
			outcomes = append(outcomes, o)
		} else {
			missing++
		}
	}
	return outcomes, missing
}

// Close makes sure that the journal is on the disk.
func (s *Store) Close() error {
	return errors.Join(s.journal.Sync(), s.journal.Close())
}
