// Package simreport draws the outcomes of a sweep as one page of HTML that needs nothing else: no network, no script.
//
//	page := simreport.Page{Outcomes: outcomes, Strategy: strategy.Parse}
//	err := page.Write(w)
//
// The page has a table of the strategies, goodput over the round-trip time, heat maps of the share of the ideal speed,
// memory against goodput with the Pareto front, the course of one cell over time, frames per MiB, and fairness. Numbers
// of several seeds are medians, with whiskers from the least to the greatest.
//
// The outcomes hold no time series. The course of a cell is simulated again, which gives the same to the octet; the page
// says so where it does not. Equal outcomes give equal pages.
package simreport
