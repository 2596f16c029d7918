// SPDX-License-Identifier: Apache-2.0
'use strict';

// What a program needs to use Isolde through cassandra-driver.

const { types } = require('cassandra-driver');

const MAX_ATTEMPTS = 20;
const TIME_LIMIT_MILLIS = 10_000;

/** Open on one node, and all of its statements have to go there. */
class Transaction {
  constructor(client) {
    this.client = client;
    this.id = types.Uuid.random().toString();
    this.host = undefined;
  }

  /**
   * The driver sends a query that is not idempotent only once. (Named parameters to `options` of the
   * driver are kept.) Read all rows before the transaction ends.
   */
  execute(cql, params, options) {
    return this.client.execute(cql, params, {
      prepare: true,
      ...options,
      host: this.host,
      isIdempotent: false,
      customPayload: { 'isolde-transaction': Buffer.from(this.id) },
    });
  }

  async begin() {
    const result = await this.execute('START TRANSACTION', [], { prepare: false });
    this.host = this.client.hosts.get(result.info.queriedHost);
    this.start = result.first().start_timestamp.toString();
  }

  /**
   * Repeats COMMIT until somebody tells how it ended. The node that holds the transaction and any node
   * take turns. When half of the time is over, the start timestamp goes along: then a transaction that is
   * not decided is aborted, so that there is an answer even if its node is gone.
   */
  async commit() {
    const begun = Date.now();
    for (let attempt = 1; ; attempt++) {
      const payload = { 'isolde-transaction': Buffer.from(this.id) };
      if (attempt > 1 && Date.now() - begun > TIME_LIMIT_MILLIS / 2) {
        payload['isolde-start-timestamp'] = Buffer.from(this.start);
      }
      try {
        return await this.client.execute('COMMIT', [], {
          host: attempt % 2 === 1 ? this.host : undefined,
          isIdempotent: false,
          customPayload: payload,
        });
      } catch (error) {
        if (trailer(error).outcome === 'not_committed' || Date.now() - begun > TIME_LIMIT_MILLIS) {
          throw error;
        }
        await pauseAfter(attempt);
      }
    }
  }
}

/** Begins, calls work, and commits; all of it again, in a new transaction, when that helps. */
async function run(client, work) {
  const begun = Date.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(client, work);
    } catch (error) {
      const { retryable, outcome } = trailer(error);
      const helps = retryable === 'true' && outcome === 'not_committed';
      if (!helps || attempt === MAX_ATTEMPTS || Date.now() - begun > TIME_LIMIT_MILLIS) {
        throw error;
      }
      await pauseAfter(attempt);
    }
  }
}

async function runOnce(client, work) {
  const tx = new Transaction(client);
  await tx.begin();
  let value;
  try {
    value = await work(tx);
  } catch (error) {
    // If it does not arrive, the node does it by itself, later.
    await tx.execute('ROLLBACK', [], { prepare: false }).catch(() => {});
    throw error;
  }
  await tx.commit();
  return value;
}

/** Random, and longer after more failures, so that those who met once do not meet again. */
function pauseAfter(attempt) {
  const bound = Math.min(5 * 2 ** (attempt - 1), 500);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * bound));
}

/** The end of Isolde's errors: … [isolde code=CONFLICT retryable=true …] */
function trailer(error) {
  const found = /\[isolde ([^\]]*)\]$/.exec(error.message || '');
  const entries = found ? found[1].split(' ') : [];
  return Object.fromEntries(entries.map((entry) => entry.split('=').map(decodeURIComponent)));
}

module.exports = { run, trailer };
