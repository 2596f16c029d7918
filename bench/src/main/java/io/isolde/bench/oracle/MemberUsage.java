// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.nodes.ChildProcess;
import io.isolde.raft.Peer;

/**
 * What a member has used since it started.
 *
 * @param processorNanos of all its threads
 * @param busiestThreadNanos of the thread that has used most
 * @param entries of the log that it has applied
 */
public record MemberUsage(long processorNanos, long busiestThreadNanos, long entries) {

  /** Asks a member. */
  public static MemberUsage of(MemberProcesses members, Peer member) {
    ChildProcess process = members.process(member);
    return new MemberUsage(
        process.processorNanos(),
        process.ask(MemberMain.BUSIEST_THREAD),
        process.ask(MemberMain.APPLIED));
  }

  /** Returns what was used since an earlier moment. */
  public MemberUsage since(MemberUsage earlier) {
    return new MemberUsage(
        processorNanos - earlier.processorNanos,
        busiestThreadNanos - earlier.busiestThreadNanos,
        entries - earlier.entries);
  }
}
