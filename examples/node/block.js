// SPDX-License-Identifier: Apache-2.0
'use strict';

// Moves 30 from account 1 to account 2, and not a cent more than there is: in one request.

const { Client } = require('cassandra-driver');

const TRANSFER = `
  BEGIN TRANSACTION
    LET source = (SELECT balance FROM shop_block_node.accounts WHERE id = ?);
    LET target = (SELECT balance FROM shop_block_node.accounts WHERE id = ?);
    IF source.balance >= ? AND target IS NOT NULL THEN
      UPDATE shop_block_node.accounts SET balance = source.balance - ? WHERE id = ?;
      UPDATE shop_block_node.accounts SET balance = target.balance + ? WHERE id = ?;
    END IF
    SELECT id, balance FROM shop_block_node.accounts WHERE id IN (1, 2);
  COMMIT TRANSACTION`;

async function createAccounts(client) {
  await client.execute(
    "CREATE KEYSPACE IF NOT EXISTS shop_block_node WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
  );
  await client.execute(
    "CREATE TABLE IF NOT EXISTS shop_block_node.accounts (id int PRIMARY KEY, balance int) WITH transactional_mode = 'full'"
  );
  await client.execute(`
    BEGIN TRANSACTION
      LET first = (SELECT balance FROM shop_block_node.accounts WHERE id = 1);
      IF first IS NULL THEN
        INSERT INTO shop_block_node.accounts (id, balance) VALUES (1, 100);
        INSERT INTO shop_block_node.accounts (id, balance) VALUES (2, 0);
      END IF
    COMMIT TRANSACTION`);
}

async function main() {
  const client = new Client({
    contactPoints: [process.env.CASSANDRA || '127.0.0.1'],
    localDataCenter: 'datacenter1',
  });
  try {
    await createAccounts(client);
    // Prepared, so that the driver knows the types. Not idempotent: a repetition would move 30 more.
    const answer = await client.execute(TRANSFER, [1, 2, 30, 30, 1, 30, 2], { prepare: true });
    const payload = answer.info.customPayload;
    if (String(payload['isolde-applied']) !== 'true') {
      throw new Error('there is not enough on account 1');
    }
    const balances = new Map(answer.rows.map((row) => [row.id, row.balance]));
    console.log(`Moved 30: account 1 has ${balances.get(1)}, account 2 has ${balances.get(2)}.`);
  } finally {
    await client.shutdown();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
