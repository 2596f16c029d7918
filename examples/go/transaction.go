// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math/rand"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const (
	maxAttempts = 20
	timeLimit   = 10 * time.Second
)

// Transaction is open on one node, and all of its statements have to go there.
type Transaction struct {
	session *gocql.Session
	id      string
	hostID  string
	start   int64
}

// Query is a statement of the transaction. gocql sends a query that is not marked as idempotent only
// once, and one with a host id to that host only.
func (tx *Transaction) Query(cql string, values ...any) *gocql.Query {
	return tx.session.Query(cql, values...).
		CustomPayload(map[string][]byte{"isolde-transaction": []byte(tx.id)}).
		SetHostID(tx.hostID)
}

// Run begins, calls work, and commits; all of it again, in a new transaction, when that helps.
func Run(session *gocql.Session, work func(*Transaction) error) error {
	deadline := time.Now().Add(timeLimit)
	for attempt := 1; ; attempt++ {
		err := runOnce(session, work)
		pause := pauseAfter(attempt)
		if err == nil || !mayRunAgain(err) || attempt == maxAttempts || time.Now().Add(pause).After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}

func runOnce(session *gocql.Session, work func(*Transaction) error) error {
	tx := &Transaction{session: session, id: gocql.MustRandomUUID().String()}
	iter := tx.Query("START TRANSACTION").Iter()
	if iter.Host() != nil {
		tx.hostID = iter.Host().HostID()
	}
	answer := map[string]any{}
	iter.MapScan(answer)
	if err := iter.Close(); err != nil {
		return err
	}
	tx.start = answer["start_timestamp"].(int64)
	if err := work(tx); err != nil {
		_ = tx.Query("ROLLBACK").Exec() // if it does not arrive, the node does it by itself, later
		return err
	}
	return tx.commit()
}

// commit repeats COMMIT until somebody tells how it ended. The node that holds the transaction and any
// node take turns. When half of the time is over, the start timestamp goes along: then a transaction that
// is not decided is aborted, so that there is an answer even if its node is gone.
func (tx *Transaction) commit() error {
	begun := time.Now()
	for attempt := 1; ; attempt++ {
		commit := tx.Query("COMMIT")
		if attempt%2 == 0 {
			commit.SetHostID("")
		}
		if attempt > 1 && time.Since(begun) > timeLimit/2 {
			commit.CustomPayload(map[string][]byte{
				"isolde-transaction":     []byte(tx.id),
				"isolde-start-timestamp": []byte(strconv.FormatInt(tx.start, 10)),
			})
		}
		err := commit.Exec()
		if err == nil || outcome(err) == "not_committed" || time.Since(begun) > timeLimit {
			return err
		}
		time.Sleep(pauseAfter(attempt))
	}
}

// pauseAfter is random, and longer after more failures, so that those who met once do not meet again.
func pauseAfter(attempt int) time.Duration {
	bound := min(5*time.Millisecond<<min(attempt-1, 10), 500*time.Millisecond)
	return time.Duration(rand.Int63n(int64(bound)))
}

func mayRunAgain(err error) bool {
	return entry(err, "retryable") == "true" && outcome(err) == "not_committed"
}

func outcome(err error) string {
	return entry(err, "outcome")
}

// entry reads the trailer of Isolde's errors: … [isolde code=CONFLICT retryable=true …]
func entry(err error, name string) string {
	var refusal gocql.RequestError
	if !errors.As(err, &refusal) {
		return ""
	}
	_, trailer, found := strings.Cut(refusal.Message(), "[isolde ")
	if !found {
		return ""
	}
	for _, field := range strings.Fields(strings.TrimSuffix(trailer, "]")) {
		if key, value, ok := strings.Cut(field, "="); ok && key == name {
			return value
		}
	}
	return ""
}
