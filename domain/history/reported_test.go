package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

func TestReportedChangeValidate(t *testing.T) {
	long := strings.Repeat("p", domain.MaxPath)
	tests := map[string]struct {
		report ReportedChange
		want   []string // field and code
	}{
		"texts":                  {ReportedChange{Path: "a", ChangeType: Modified, BeforeContent: new(""), AfterContent: new("x")}, nil},
		"a patch":                {ReportedChange{Path: "a", ChangeType: Modified, Patch: new("@@"), LinesAdded: new(int64(0))}, nil},
		"texts and a patch":      {ReportedChange{Path: "a", ChangeType: Modified, BeforeContent: new("a"), AfterContent: new("x"), Patch: new("@@")}, nil},
		"the bare fact":          {ReportedChange{Path: "a", ChangeType: Modified}, nil},
		"an overwrite":           {ReportedChange{Path: "a", ChangeType: Modified, AfterContent: new("x")}, nil},
		"created":                {ReportedChange{Path: "a", ChangeType: Created, AfterContent: new("x")}, nil},
		"created, empty before":  {ReportedChange{Path: "a", ChangeType: Created, BeforeContent: new(""), AfterContent: new("x")}, nil},
		"deleted":                {ReportedChange{Path: "a", ChangeType: Deleted, BeforeContent: new("x")}, nil},
		"deleted, empty after":   {ReportedChange{Path: "a", ChangeType: Deleted, BeforeContent: new("x"), AfterContent: new("")}, nil},
		"renamed":                {ReportedChange{Path: "a", OldPath: new("b"), ChangeType: Renamed}, nil},
		"U+0000 in texts":        {ReportedChange{Path: "a", ChangeType: Modified, BeforeContent: new("\x00"), AfterContent: new("\x00")}, nil},
		"paths of the limit":     {ReportedChange{Path: long, OldPath: &long, ChangeType: Renamed, ToolCallID: new(long[:domain.MaxOpaqueID])}, nil},
		"paths over the limit":   {ReportedChange{Path: long + "p", OldPath: new(long + "p"), ChangeType: Renamed}, []string{"/f/path too_long", "/f/old_path too_long"}},
		"empty paths":            {ReportedChange{OldPath: new(""), ChangeType: Renamed}, []string{"/f/path blank", "/f/old_path blank"}},
		"U+0000 in paths":        {ReportedChange{Path: "a\x00", OldPath: new("\x00"), ChangeType: Renamed}, []string{"/f/path nul", "/f/old_path nul"}},
		"no type":                {ReportedChange{Path: "a"}, []string{"/f/change_type enum"}},
		"renamed from nowhere":   {ReportedChange{Path: "a", ChangeType: Renamed}, []string{"/f/old_path required"}},
		"old path without cause": {ReportedChange{Path: "a", OldPath: new("b"), ChangeType: Modified}, []string{"/f/old_path contradictory"}},
		"created from a text":    {ReportedChange{Path: "a", ChangeType: Created, BeforeContent: new("x"), AfterContent: new("y")}, []string{"/f/before_content contradictory"}},
		"deleted but there":      {ReportedChange{Path: "a", ChangeType: Deleted, BeforeContent: new("x"), AfterContent: new("y")}, []string{"/f/after_content contradictory"}},
		"modified into nothing":  {ReportedChange{Path: "a", ChangeType: Modified, BeforeContent: new("x")}, []string{"/f/after_content required"}},
		"half a rename":          {ReportedChange{Path: "a", OldPath: new("b"), ChangeType: Renamed, AfterContent: new("x")}, []string{"/f/before_content required"}},
		"negative counts":        {ReportedChange{Path: "a", ChangeType: Modified, LinesAdded: new(int64(-1)), LinesDeleted: new(int64(-1))}, []string{"/f/lines_added range", "/f/lines_deleted range"}},
		"a long tool call id":    {ReportedChange{Path: "a", ChangeType: Modified, ToolCallID: new(long)}, []string{"/f/tool_call_id too_long"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var problems domain.Problems
			test.report.Validate(&problems, "/f")
			var got []string
			for _, p := range problems {
				got = append(got, p.Field+" "+p.Code)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
