// SPDX-License-Identifier: Apache-2.0
'use strict';

// Writes and reads of a strong keyspace go to the nodes that lead, as soon as answers have named them.

const { Client, policies, types } = require('cassandra-driver');
const { LeaderFirstPolicy } = require('./leaders');

const KEYSPACE = 'routing_node';
const KEYS = 60;
const MAX_ROUNDS = 20;

async function createTable(client) {
  await client.execute(
    "CREATE KEYSPACE IF NOT EXISTS routing_node WITH replication = {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 3}"
  );
  await client.execute('CREATE TABLE IF NOT EXISTS routing_node.t (p int PRIMARY KEY, v int)');
}

/** Returns how many requests were passed on. */
async function writeAndRead(client, policy, value) {
  let passedOn = 0;
  const send = async (cql, parameters) => {
    // At QUORUM: reads at ONE and LOCAL_ONE, the driver's default, are answered by any replica.
    const options = { prepare: true, isIdempotent: true, consistency: types.consistencies.quorum };
    const result = await client.execute(cql, parameters, options);
    passedOn += policy.learn(KEYSPACE, result) ? 1 : 0;
    return result;
  };
  for (let key = 0; key < KEYS; key++) {
    await send('UPDATE routing_node.t SET v = ? WHERE p = ?', [value, key]);
    const found = (await send('SELECT v FROM routing_node.t WHERE p = ?', [key])).first().v;
    if (found !== value) {
      throw new Error(`key ${key} has ${found} instead of ${value}`);
    }
  }
  return passedOn;
}

async function main() {
  const policy = new LeaderFirstPolicy(new policies.loadBalancing.RoundRobinPolicy());
  const client = new Client({
    contactPoints: [process.env.CASSANDRA || '127.0.0.1'],
    localDataCenter: 'datacenter1',
    policies: { loadBalancing: policy },
  });
  try {
    await createTable(client);
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const passedOn = await writeAndRead(client, policy, round);
      console.log(`Round ${round}: ${passedOn} of ${2 * KEYS} requests were passed on.`);
      if (passedOn === 0) {
        return; // Leaders may change at any time; then one request for each group takes the detour.
      }
    }
    throw new Error('requests are still passed on');
  } finally {
    await client.shutdown();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
