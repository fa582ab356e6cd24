package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxRange is how many values one range may have. More is a slip of the pen.
const maxRange = 100_000

// expandRange reads "A..B*F" (A, A*F, A*F*F and so on up to B) or "A..B+D" (A, A+D and so on). Without a step it is
// unit, or an error if unit is 0. ok is false if s is no range. Numbers are read by parse.
func expandRange(s string, unit float64, parse func(string) (float64, error)) (values []float64, ok bool, err error) {
	first, rest, ok := strings.Cut(s, "..")
	if !ok {
		return nil, false, nil
	}
	at := strings.IndexAny(rest, "*+")
	last, step := rest, unit
	if at >= 0 {
		last = rest[:at]
		if step, err = number(rest[at+1:], parse, rest[at] == '*'); err != nil {
			return nil, true, fmt.Errorf("the step of the range %q: %w", s, err)
		}
	}
	from, err := parse(first)
	if err != nil {
		return nil, true, err
	}
	to, err := parse(last)
	if err != nil {
		return nil, true, err
	}
	factor := at >= 0 && rest[at] == '*'
	switch {
	case step == 0 && at < 0:
		return nil, true, fmt.Errorf("the range %q has no step: write %s*2 to double or %s+N to add N", s, s, s)
	case from > to:
		return nil, true, fmt.Errorf("the range %q ends before it begins", s)
	case factor && (step <= 1 || from <= 0):
		return nil, true, fmt.Errorf("the range %q never reaches its end: want a factor above 1 and a start above 0", s)
	case !factor && step <= 0:
		return nil, true, fmt.Errorf("the range %q never reaches its end: want a step above 0", s)
	}
	values, err = climb(from, to, step, factor)
	if err != nil {
		return nil, true, fmt.Errorf("the range %q %w", s, err)
	}
	return values, true, nil
}

// climb lists the values from from to to; each is computed from the first, so that errors do not add up.
func climb(from, to, step float64, factor bool) ([]float64, error) {
	var values []float64
	for i := 0; ; i++ {
		v := from + float64(i)*step
		if factor {
			v = from * math.Pow(step, float64(i))
		}
		if v > to*(1+1e-9) {
			return values, nil
		}
		if len(values) == maxRange {
			return nil, fmt.Errorf("has more than %d values", maxRange)
		}
		// Ten digits hide what the arithmetic adds: 0.1+2*0.1 is 0.3.
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
		values = append(values, v)
	}
}

// number reads the step of a range: a factor is a plain number, what is added is what the values are.
func number(s string, parse func(string) (float64, error), factor bool) (float64, error) {
	if factor {
		return ParseNumber(s)
	}
	return parse(s)
}

// ParseNumber reads a finite number as Go writes it.
func ParseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return v, nil
}

// ExpandStrategy lists the strategies that s stands for: the value of each option may be several, joined by "|", or a
// range such as 64KiB..16MiB*2. Several such options give all combinations, the first one slowest. size reads octets.
// What is no option with a range stays as it is, for others to read.
func ExpandStrategy(s string, size func(string) (int64, error)) ([]string, error) {
	parts := strings.Split(s, ":")
	list := []string{parts[0]}
	for _, part := range parts[1:] {
		values, err := expandOption(part, size)
		if err != nil {
			return nil, fmt.Errorf("strategy %q: %w", s, err)
		}
		var longer []string
		for _, prefix := range list {
			for _, v := range values {
				longer = append(longer, prefix+":"+v)
			}
		}
		if list = longer; len(list) > maxRange {
			return nil, fmt.Errorf("strategy %q stands for more than %d", s, maxRange)
		}
	}
	return list, nil
}

// expandOption lists the options that NAME=VALUE|VALUE|FROM..TO*STEP stands for.
func expandOption(option string, size func(string) (int64, error)) ([]string, error) {
	name, text, ok := strings.Cut(option, "=")
	if !ok {
		return []string{option}, nil
	}
	var list []string
	for _, v := range strings.Split(text, "|") {
		octets := false // a value with a unit is printed as whole octets, others as they are
		values, ok, err := expandRange(v, 0, func(s string) (float64, error) {
			if v, err := ParseNumber(s); err == nil {
				return v, nil
			}
			n, err := size(s)
			octets = true
			return float64(n), err
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			list = append(list, name+"="+v)
		}
		for _, v := range values {
			if octets {
				v = math.Round(v)
			}
			list = append(list, name+"="+strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return list, nil
}
