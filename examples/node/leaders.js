// SPDX-License-Identifier: Apache-2.0
'use strict';

// Requests of strong keyspaces go to the nodes that lead.

const { policies, types } = require('cassandra-driver');

const MAX_RANGES = 10_000;
const { one, localOne } = types.consistencies;

/** A token range of a group: above its start, up to its end, around the ring if not less. */
class Range {
  constructor(group) {
    this.group = group.toString('hex', 0, 16);
    this.start = group.readBigInt64BE(16);
    this.end = group.readBigInt64BE(24);
  }

  contains(token) {
    return this.start < this.end
      ? this.start < token && token <= this.end
      : token > this.start || token <= this.end;
  }

  overlaps(other) {
    return this.contains(other.end) || other.contains(this.end);
  }
}

/** Asks the leader first, where answers have named it. All else goes where another policy says. */
class LeaderFirstPolicy extends policies.loadBalancing.LoadBalancingPolicy {
  constructor(other) {
    super();
    this.other = other;
    this.forget();
  }

  forget() {
    this.ranges = new Map(); // by keyspace: in the order of their ends
    this.leaders = new Map(); // from groups to addresses and ports
    this.count = 0;
  }

  init(client, hosts, callback) {
    this.client = client;
    this.hosts = hosts;
    this.other.init(client, hosts, callback);
  }

  getDistance(host) {
    return this.other.getDistance(host);
  }

  /**
   * Reads who leads from the answer to a request for a strong keyspace. Returns whether the request
   * was passed on.
   */
  learn(keyspace, result) {
    this.doubt(Object.keys(result.info.triedHosts ?? {}).filter((host) => host !== result.info.queriedHost));
    const payload = result.info.customPayload;
    const group = payload?.['isolde-group'];
    if (!payload?.['isolde-leader'] || group?.length !== 32) {
      return false;
    }
    const known = new Range(group);
    const found = this.find(keyspace, known.end);
    if (!found || found.group !== known.group || found.start !== known.start || found.end !== known.end) {
      this.add(keyspace, known);
    }
    this.leaders.set(known.group, payload['isolde-leader'].toString());
    return true;
  }

  /**
   * Forgets leaders that did not answer, where another node has answered in their place. If a request fails since it
   * must not be repeated, call it with the error's coordinator.
   */
  doubt(hosts) {
    if (hosts.length === 0) {
      return;
    }
    for (const [group, leader] of this.leaders) {
      if (hosts.includes(leader)) {
        this.leaders.delete(group);
      }
    }
  }

  add(keyspace, known) {
    if (this.count >= MAX_RANGES) {
      this.forget();
    }
    const before = this.ranges.get(keyspace) ?? [];
    // Those that overlap were of a keyspace of that name that was dropped.
    const kept = [...before.filter((range) => !range.overlaps(known)), known];
    kept.sort((a, b) => (a.end < b.end ? -1 : 1));
    this.ranges.set(keyspace, kept);
    this.count += kept.length - before.length;
  }

  find(keyspace, token) {
    const ranges = this.ranges.get(keyspace) ?? [];
    let low = 0;
    for (let high = ranges.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (ranges[middle].end < token) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const found = ranges[low % ranges.length];
    return found?.contains(token) ? found : undefined;
  }

  /** If the leader does not answer in time, the others follow, and one's answer names the new leader. */
  newQueryPlan(keyspace, options, callback) {
    const leader = this.leader(keyspace, options);
    this.other.newQueryPlan(keyspace, options, (error, rest) => {
      callback(error, error || !leader ? rest : this.plan(leader, rest));
    });
  }

  *plan(leader, rest) {
    yield leader;
    for (let next = rest.next(); !next.done; next = rest.next()) {
      if (next.value !== leader) {
        yield next.value;
      }
    }
  }

  leader(keyspace, options) {
    const key = options?.getRoutingKey();
    // Any replica answers reads at these levels. A policy does not see whether it is one.
    if (!key || [one, localOne].includes(options.getConsistency())) {
      return undefined;
    }
    const token = BigInt(this.client.metadata.newToken(key).toString());
    const range = this.find(options.getKeyspace() ?? keyspace, token);
    const host = range && this.hosts.get(this.leaders.get(range.group));
    return host?.isUp() ? host : undefined;
  }
}

module.exports = { LeaderFirstPolicy };
