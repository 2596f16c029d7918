// SPDX-License-Identifier: Apache-2.0
'use strict';

// Moves 30 from account 1 to account 2, and not a cent more than there is.

const { Client } = require('cassandra-driver');
const { run } = require('./isolde');

async function createAccounts(client) {
  await client.execute(
    "CREATE KEYSPACE IF NOT EXISTS shop_node WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
  );
  await client.execute('CREATE TABLE IF NOT EXISTS shop_node.accounts (id int PRIMARY KEY, balance int)');
  await client.execute('ENABLE TRANSACTIONS ON shop_node.accounts');
  await run(client, async (tx) => {
    if (!(await tx.execute('SELECT balance FROM shop_node.accounts WHERE id = 1')).first()) {
      await tx.execute('INSERT INTO shop_node.accounts (id, balance) VALUES (1, 100)');
      await tx.execute('INSERT INTO shop_node.accounts (id, balance) VALUES (2, 0)');
    }
  });
}

async function balance(tx, id) {
  const result = await tx.execute('SELECT balance FROM shop_node.accounts WHERE id = ?', [id]);
  return result.first().balance;
}

async function main() {
  const client = new Client({
    contactPoints: [process.env.CASSANDRA || '127.0.0.1'],
    localDataCenter: 'datacenter1',
  });
  try {
    await createAccounts(client);
    const [from, to] = await run(client, async (tx) => {
      const source = await balance(tx, 1);
      const target = await balance(tx, 2);
      if (source < 30) {
        throw new Error('there is not enough on account 1');
      }
      const update = 'UPDATE shop_node.accounts SET balance = ? WHERE id = ?';
      await tx.execute(update, [source - 30, 1]);
      await tx.execute(update, [target + 30, 2]);
      return [source - 30, target + 30];
    });
    console.log(`Moved 30: account 1 has ${from}, account 2 has ${to}.`);
  } finally {
    await client.shutdown();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
