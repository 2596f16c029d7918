// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.concurrent.atomic.LongAdder;

/** What a member has done so far; whoever wants rates looks twice. */
public final class Rates {
  private final LongAdder entries = new LongAdder();
  private final LongAdder commands = new LongAdder();
  private final LongAdder starts = new LongAdder();
  private final LongAdder beginBatches = new LongAdder();
  private final LongAdder overloads = new LongAdder();

  void entry(int itsCommands) {
    entries.increment();
    commands.add(itsCommands);
  }

  void starts(int together) {
    beginBatches.increment();
    starts.add(together);
  }

  void overload() {
    overloads.increment();
  }

  /** Log entries that this member proposed. */
  public long entries() {
    return entries.sum();
  }

  /** Commands in them. */
  public long commands() {
    return commands.sum();
  }

  /** Start timestamps that this member gave. */
  public long starts() {
    return starts.sum();
  }

  /** How often it made sure that it leads, for them. */
  public long beginBatches() {
    return beginBatches.sum();
  }

  /** Requests refused because too much waited. */
  public long overloads() {
    return overloads.sum();
  }
}
