// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.concurrent.atomic.LongAdder;

/** What a member has done so far; whoever wants rates looks twice. */
final class Rates {
  /** Log entries that this member proposed. */
  final LongAdder entries = new LongAdder();

  /** Commands in them. */
  final LongAdder commands = new LongAdder();

  /** Start timestamps that this member gave. */
  final LongAdder starts = new LongAdder();

  /** How often it made sure that it leads, for them. */
  final LongAdder beginBatches = new LongAdder();

  /** Requests refused because too much waited. */
  final LongAdder overloads = new LongAdder();

  void entry(int itsCommands) {
    entries.increment();
    commands.add(itsCommands);
  }

  void starts(int together) {
    beginBatches.increment();
    starts.add(together);
  }
}
