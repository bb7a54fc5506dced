package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/google/uuid"

	"gatehouse/gen/client"
)

// demo is what the steps hand on.
type demo struct {
	*server
	print *printer

	taskID, sessionID, planID string
	comments                  []client.CommentRef
	request                   client.AdmitPromptJSONRequestBody
	delivery                  client.Delivery
}

const planText = `# Retry failed uploads

1. Retry each upload up to ten times.
2. Log the payload when it fails.
3. Ship behind the flag "uploads.retry".
`

// importTranscript loads a real session of an agent, beside the running server.
func (d *demo) importTranscript(ctx context.Context, path string) error {
	d.print.step("Import a real agent session with its subagents")
	command := exec.CommandContext(ctx, d.binary, "import", "claude-code", path) //nolint:gosec // the program to show
	command.Env = d.environ()
	out, err := command.CombinedOutput()
	d.print.quote(string(out))
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

// review makes a plan and the feedback a person writes on it.
func (d *demo) review(ctx context.Context) error {
	d.print.step("A plan, and what a person thinks of it")
	task, err := d.CreateTaskWithResponse(ctx, client.CreateTaskJSONRequestBody{Title: "Retry failed uploads"})
	if err := check(err, task, 201); err != nil {
		return err
	}
	d.taskID = task.JSON201.ID
	session, err := d.CreateSessionWithResponse(ctx, d.taskID, client.CreateSessionJSONRequestBody{Kind: client.SessionKindMain})
	if err := check(err, session, 201); err != nil {
		return err
	}
	d.sessionID = session.JSON201.ID
	plan, err := d.SavePlanWithResponse(ctx, d.taskID, nil, client.SavePlanJSONRequestBody{Content: planText})
	if err := check(err, plan, 200); err != nil {
		return err
	}
	d.planID = plan.JSON200.ID
	for _, c := range []struct{ selected, body string }{
		{"up to ten times", "Three times, with a growing pause.\nTen would hammer a server that is down."},
		{"Log the payload", "Never: it holds customer data. Log its size and id."},
	} {
		from := int64(strings.Index(planText, c.selected))
		id := uuid.NewString()
		made, err := d.CreatePlanCommentWithResponse(ctx, d.taskID, client.CreatePlanCommentJSONRequestBody{
			ID: id, PlanID: d.planID, Body: c.body, SelectedText: c.selected,
			AnchorFrom: from, AnchorTo: from + int64(len(c.selected)),
		})
		if err := check(err, made, 201); err != nil {
			return err
		}
		d.comments = append(d.comments, client.CommentRef{ID: id, Version: 1})
		d.print.say("on %q: %s", c.selected, strings.ReplaceAll(c.body, "\n", " "))
	}
	d.print.say("%d comments wait. They belong to the plan, not to a tab or a session.", len(d.comments))
	return nil
}

// send admits the prompt that takes the comments along, twice, and then another
// prompt that names the same comments.
func (d *demo) send(ctx context.Context) error {
	d.print.step("One prompt takes them to the agent, exactly once")
	d.request = client.AdmitPromptJSONRequestBody{
		ClientMessageID: "demo-1", Content: new("Please revise the plan."), PlanCommentRefs: d.comments,
	}
	first, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, d.request)
	if err := check(err, first, 201); err != nil {
		return err
	}
	d.delivery = first.JSON201.Delivery
	d.print.say("admitted; this is what the agent will read, and what the transcript shows:")
	d.print.quote(d.delivery.Content)
	snapshot, err := first.JSON201.Snapshot.Get()
	if err != nil || len(snapshot.Comments) != 0 {
		return fmt.Errorf("comments are left pending: %+v", snapshot)
	}
	d.print.say("no comment is pending any more (revision %d)", snapshot.Revision)

	again, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, d.request)
	if err := check(err, again, 200); err != nil {
		return err
	}
	if again.JSON200.Delivery.ID != d.delivery.ID || !again.JSON200.Replayed {
		return fmt.Errorf("the retry admitted %s, not %s", again.JSON200.Delivery.ID, d.delivery.ID)
	}
	d.print.say("sent again, as after a time-out: answered with the same delivery, replayed")
	return nil
}

// deliver is what a runner does: reserve, attempt, speak to the agent, acknowledge.
func (d *demo) deliver(ctx context.Context) error {
	d.print.step("A runner delivers it")
	reserved, err := d.ReserveDeliveryWithResponse(ctx, d.sessionID, client.ReserveDeliveryJSONRequestBody{})
	if err := check(err, reserved, 200); err != nil {
		return err
	}
	token := reserved.JSON200.Token
	d.print.say("reserved until %s", reserved.JSON200.LeaseExpiresAt.Format("15:04:05"))
	attempted, err := d.AttemptDeliveryWithResponse(ctx, d.delivery.ID, client.AttemptDeliveryJSONRequestBody{Token: token})
	if err := check(err, attempted, 200); err != nil {
		return err
	}
	d.print.say("attempted: from here on nobody sends it again, whatever crashes")
	settled, err := d.AcknowledgeDeliveryWithResponse(ctx, d.delivery.ID, client.AcknowledgeDeliveryJSONRequestBody{
		Token: token, Outcome: client.DeliveryOutcomeSucceeded,
	})
	if err := check(err, settled, 200); err != nil {
		return err
	}
	turn, err := d.EndTurnWithResponse(ctx, attempted.JSON200.TurnID, client.EndTurnJSONRequestBody{State: client.EndStateCompleted})
	if err := check(err, turn, 200); err != nil {
		return err
	}
	d.print.say("acknowledged, and the turn has ended")

	stale := d.request
	stale.ClientMessageID = "demo-2"
	refused, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, stale)
	if err := check(err, refused, 409); err != nil {
		return err
	}
	d.print.say("another prompt with the same comments is refused: %s", refused.ApplicationProblemJSONDefault.Code)
	return nil
}

// response is an answer of the client.
type response interface{ StatusCode() int }

// check fails when a call failed, or was answered with another status.
func check(err error, r response, status int) error {
	if err != nil {
		return err
	}
	if r.StatusCode() != status {
		return fmt.Errorf("%T is %d, want %d", r, r.StatusCode(), status)
	}
	return nil
}
