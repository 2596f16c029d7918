// SPDX-License-Identifier: Apache-2.0

// Moves 30 from account 1 to account 2, and not a cent more than there is.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

var errNotEnough = errors.New("there is not enough on account 1")

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
	if err := createAccounts(session); err != nil {
		log.Fatal(err)
	}
	var from, to int
	err = Run(session, func(tx *Transaction) error {
		if err := tx.Query("SELECT balance FROM shop_go.accounts WHERE id = 1").Scan(&from); err != nil {
			return err
		}
		if err := tx.Query("SELECT balance FROM shop_go.accounts WHERE id = 2").Scan(&to); err != nil {
			return err
		}
		if from < 30 {
			return errNotEnough
		}
		from, to = from-30, to+30
		if err := tx.Query("UPDATE shop_go.accounts SET balance = ? WHERE id = 1", from).Exec(); err != nil {
			return err
		}
		return tx.Query("UPDATE shop_go.accounts SET balance = ? WHERE id = 2", to).Exec()
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Moved 30: account 1 has %d, account 2 has %d.\n", from, to)
}

func createAccounts(session *gocql.Session) error {
	statements := []string{
		"CREATE KEYSPACE IF NOT EXISTS shop_go WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS shop_go.accounts (id int PRIMARY KEY, balance int)",
		"ENABLE TRANSACTIONS ON shop_go.accounts",
	}
	for _, statement := range statements {
		if err := session.Query(statement).Exec(); err != nil {
			return err
		}
	}
	return Run(session, func(tx *Transaction) error {
		var balance int
		err := tx.Query("SELECT balance FROM shop_go.accounts WHERE id = 1").Scan(&balance)
		if !errors.Is(err, gocql.ErrNotFound) {
			return err
		}
		if err := tx.Query("INSERT INTO shop_go.accounts (id, balance) VALUES (1, 100)").Exec(); err != nil {
			return err
		}
		return tx.Query("INSERT INTO shop_go.accounts (id, balance) VALUES (2, 0)").Exec()
	})
}
