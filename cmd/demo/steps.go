package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"

	"gatehouse/gen/client"
)

// demo is what the steps hand on.
type demo struct {
	*server
	print *printer

	taskID, sessionID string
	comments          []client.CommentRef // in the order of the plan
	delivery          client.Delivery
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
	for _, c := range []struct{ selected, body string }{
		{"up to ten times", "Three times, with a growing pause.\nTen would hammer a server that is down."},
		{"Log the payload", "Never: it holds customer data. Log its size and id."},
		{"the flag", "Who takes it away again, and when?"},
	} {
		from := int64(strings.Index(planText, c.selected))
		id := uuid.NewString()
		made, err := d.CreatePlanCommentWithResponse(ctx, d.taskID, client.CreatePlanCommentJSONRequestBody{
			ID: id, PlanID: plan.JSON200.ID, Body: c.body, SelectedText: c.selected,
			AnchorFrom: from, AnchorTo: from + int64(len(c.selected)),
		})
		if err := check(err, made, 201); err != nil {
			return err
		}
		d.comments = append(d.comments, client.CommentRef{ID: id, Version: 1})
		d.print.say("%-17s  %s", fmt.Sprintf("%q", c.selected), strings.ReplaceAll(c.body, "\n", " "))
	}
	d.print.say("%d comments wait. They belong to the plan, not to a tab or a session.", len(d.comments))
	return nil
}

// send admits the prompt that takes two of the comments along, and admits it again.
func (d *demo) send(ctx context.Context) error {
	d.print.step("One prompt takes two of them to the agent, exactly once")
	request := client.AdmitPromptJSONRequestBody{
		ClientMessageID: "demo-1", Content: new("Please revise the plan."), PlanCommentRefs: d.comments[:2],
	}
	first, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, request)
	if err := check(err, first, 201); err != nil {
		return err
	}
	d.delivery = first.JSON201.Delivery
	d.print.say("Admitted. This is what the agent will read, and what the transcript shows:")
	d.print.quote(d.delivery.Content)
	if d.delivery.Content != wantPrompt {
		return fmt.Errorf("the prompt is not\n%s", wantPrompt)
	}
	if err := d.pending(first.JSON201.Snapshot); err != nil {
		return err
	}
	again, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, request)
	if err := check(err, again, 200); err != nil {
		return err
	}
	if again.JSON200.Delivery.ID != d.delivery.ID || !again.JSON200.Replayed {
		return fmt.Errorf("the retry admitted %s, not %s", again.JSON200.Delivery.ID, d.delivery.ID)
	}
	d.print.say("Sent again, as after a time-out: answered with the same delivery, as a replay.")
	return nil
}

// wantPrompt is the prompt with its comments, as every agent gets it.
const wantPrompt = "### Plan Comments\n\n" +
	"```\nup to ten times\n```\n> Three times, with a growing pause.\n> Ten would hammer a server that is down.\n\n" +
	"```\nLog the payload\n```\n> Never: it holds customer data. Log its size and id.\n\n" +
	"---\n\nPlease revise the plan."

// pending fails unless the last comment, and no other, waits in a snapshot.
func (d *demo) pending(given nullable.Nullable[client.CommentsSnapshot]) error {
	snapshot, err := given.Get()
	if err != nil || len(snapshot.Comments) != 1 || snapshot.Comments[0].ID != d.comments[2].ID {
		return fmt.Errorf("want the third comment to wait alone, not %+v", snapshot.Comments)
	}
	d.print.say("One comment still waits (revision %d of the comments).", snapshot.Revision)
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
	d.print.say("Reserved until %s.", reserved.JSON200.LeaseExpiresAt.Format("15:04:05"))
	attempted, err := d.AttemptDeliveryWithResponse(ctx, d.delivery.ID, client.AttemptDeliveryJSONRequestBody{Token: token})
	if err := check(err, attempted, 200); err != nil {
		return err
	}
	d.print.say("Attempted: from here on nobody sends it again, whatever crashes.")
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
	d.print.say("Acknowledged, and the turn has ended.")
	return nil
}

// refuse is another tab that still shows a comment which has gone to the agent.
func (d *demo) refuse(ctx context.Context) error {
	d.print.step("A stale tab sends one of them once more")
	stale, err := d.AdmitPromptWithResponse(ctx, d.taskID, d.sessionID, client.AdmitPromptJSONRequestBody{
		ClientMessageID: "demo-2", Content: new("And these, please."), PlanCommentRefs: d.comments[1:],
	})
	if err := check(err, stale, 409); err != nil {
		return err
	}
	problem := stale.ApplicationProblemJSONDefault
	if problem == nil || problem.Code != client.ProblemCodePlanCommentsChanged {
		return fmt.Errorf("want plan_comments_changed, not %s", stale.Body)
	}
	d.print.say("Refused as a whole: %s. The answer brings what waits now.", problem.Code)
	return d.pending(problem.Snapshot)
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
