package report

// A Bar is one bar of a cell's comparison. Lengths are in units of the drawing.
type Bar struct {
	Name, Phase string
	Y, TextY    float64
	Width       float64
	Label       string
	LabelX      float64
}

// A BarChart compares the times of a cell's rows with those of its first row.
type BarChart struct {
	Width, Height float64
	Left          float64 // where the bars begin
	OneX          float64 // where the bar of the first row ends
	Bars          []Bar
	Names         []Bar // one for each row, for its name
}

const (
	barWidth    = 960.0
	barLetter   = 6.4   // the width of a letter, roughly
	barRight    = 110.0 // room for the label behind the longest bar
	barHeight   = 12.0
	barRowSpace = 10.0
)

// bars draws c. It is nil if there is nothing to compare.
func bars(c Cell) *BarChart {
	if len(c.Rows) == 0 {
		return nil
	}
	base := c.Rows[0]
	longest, left := 1.0, 0.0
	for _, r := range c.Rows {
		left = max(left, 20+barLetter*float64(len(r.Name())))
		longest = max(longest, quotient(r.Cold, base.Cold), quotient(r.Warm, base.Warm))
	}
	unit := (barWidth - left - barRight) / longest
	chart := &BarChart{Width: barWidth, Left: left, OneX: left + unit}
	y := 22.0
	for _, r := range c.Rows {
		top := y
		for _, p := range []struct {
			name string
			q, s float64
		}{{"cold", quotient(r.Cold, base.Cold), r.Cold}, {"warm", quotient(r.Warm, base.Warm), r.Warm}} {
			if p.q == 0 {
				continue
			}
			chart.Bars = append(chart.Bars, Bar{
				Name: r.Name(), Phase: p.name, Y: y, TextY: y + barHeight - 2, Width: unit * p.q,
				Label: ratio(p.q, 1) + "×  " + seconds(p.s), LabelX: left + unit*p.q + 6,
			})
			y += barHeight + 2
		}
		if y == top {
			y += barHeight
		}
		chart.Names = append(chart.Names, Bar{Name: r.Name(), TextY: (top+y)/2 + 3})
		y += barRowSpace
	}
	chart.Height = y
	return chart
}

func quotient(s, base float64) float64 {
	if base == 0 {
		return 0
	}
	return s / base
}
