// SPDX-License-Identifier: Apache-2.0

// Moves 30 from account 1 to account 2, and not a cent more than there is: in one request.
package main

import (
	"fmt"
	"log"
	"os"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// The driver sends values only with texts that it prepares. One that begins with BEGIN has to end with "batch".
const transfer = `
BEGIN TRANSACTION
  LET source = (SELECT balance FROM shop_block_go.accounts WHERE id = ?);
  LET target = (SELECT balance FROM shop_block_go.accounts WHERE id = ?);
  IF source.balance >= ? AND target IS NOT NULL THEN
    UPDATE shop_block_go.accounts SET balance = source.balance - ? WHERE id = ?;
    UPDATE shop_block_go.accounts SET balance = target.balance + ? WHERE id = ?;
  END IF
  SELECT id, balance FROM shop_block_go.accounts WHERE id IN (1, 2);
COMMIT TRANSACTION -- batch`

var schema = []string{
	"CREATE KEYSPACE IF NOT EXISTS shop_block_go WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE TABLE IF NOT EXISTS shop_block_go.accounts (id int PRIMARY KEY, balance int) WITH transactional_mode = 'full'",
	`BEGIN TRANSACTION
	   LET first = (SELECT balance FROM shop_block_go.accounts WHERE id = 1);
	   IF first IS NULL THEN
	     INSERT INTO shop_block_go.accounts (id, balance) VALUES (1, 100);
	     INSERT INTO shop_block_go.accounts (id, balance) VALUES (2, 0);
	   END IF
	 COMMIT TRANSACTION`,
}

func main() {
	address := os.Getenv("CASSANDRA")
	if address == "" {
		address = "127.0.0.1"
	}
	session, err := gocql.NewCluster(address).CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, statement := range schema {
		if err := session.Query(statement).Exec(); err != nil {
			log.Fatal(err)
		}
	}
	// The driver does not send it twice by itself: queries are not idempotent unless you say so.
	answer := session.Query(transfer, 1, 2, 30, 30, 1, 30, 2).Iter()
	balances := map[int]int{}
	var id, balance int
	for answer.Scan(&id, &balance) {
		balances[id] = balance
	}
	applied := string(answer.GetCustomPayload()["isolde-applied"])
	if err := answer.Close(); err != nil {
		log.Fatal(err)
	}
	if applied != "true" {
		log.Fatal("there is not enough on account 1")
	}
	fmt.Printf("Moved 30: account 1 has %d, account 2 has %d.\n", balances[1], balances[2])
}
