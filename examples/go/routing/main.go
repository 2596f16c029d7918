// SPDX-License-Identifier: Apache-2.0

// Writes and reads of a strong keyspace go to the nodes that lead, as soon as answers have named them.
package main

import (
	"fmt"
	"log"
	"os"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const (
	keyspace  = "routing_go"
	keys      = 60
	maxRounds = 20
)

func main() {
	address := os.Getenv("CASSANDRA")
	if address == "" {
		address = "127.0.0.1"
	}
	leaders := NewLeaderFirst(gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy()))
	cluster := gocql.NewCluster(address)
	cluster.PoolConfig.HostSelectionPolicy = leaders
	session, err := cluster.CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if err := createTable(session); err != nil {
		log.Fatal(err)
	}
	for round := 1; round <= maxRounds; round++ {
		passedOn, err := writeAndRead(session, leaders, round)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("Round %d: %d of %d requests were passed on.\n", round, passedOn, 2*keys)
		if passedOn == 0 {
			return // Leaders may change at any time; then one request for each group takes the detour.
		}
	}
	log.Fatal("requests are still passed on")
}

func writeAndRead(session *gocql.Session, leaders *LeaderFirst, value int) (int, error) {
	passedOn := 0
	send := func(cql string, values ...any) (map[string]any, error) {
		iter := session.Query(cql, values...).Consistency(gocql.Quorum).Idempotent(true).Iter()
		if leaders.Learn(keyspace, iter) {
			passedOn++
		}
		row := map[string]any{}
		iter.MapScan(row)
		return row, iter.Close()
	}
	for key := 0; key < keys; key++ {
		if _, err := send("UPDATE routing_go.t SET v = ? WHERE p = ?", value, key); err != nil {
			return 0, err
		}
		row, err := send("SELECT v FROM routing_go.t WHERE p = ?", key)
		if err != nil {
			return 0, err
		}
		if row["v"] != value {
			return 0, fmt.Errorf("key %d has %v instead of %d", key, row["v"], value)
		}
	}
	return passedOn, nil
}

func createTable(session *gocql.Session) error {
	statements := []string{
		"CREATE KEYSPACE IF NOT EXISTS routing_go WITH replication = {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 3}",
		"CREATE TABLE IF NOT EXISTS routing_go.t (p int PRIMARY KEY, v int)",
	}
	for _, statement := range statements {
		if err := session.Query(statement).Exec(); err != nil {
			return err
		}
	}
	return nil
}
