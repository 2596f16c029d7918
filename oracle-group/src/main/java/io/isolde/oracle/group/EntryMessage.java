// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.raft.LogData;
import io.isolde.raft.group.ProposalBatcher;
import java.util.ArrayList;
import java.util.List;

/**
 * A log entry on its way. The member that made it gets this very object back when it is applied, so
 * it need not decode it and knows whom to answer.
 */
final class EntryMessage implements LogData {

  /**
   * A command on its way into the log.
   *
   * @param request who asked for it; null if this member did by itself
   * @param encoded as it came; null if it did not come as bytes
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Item(Command command, Request request, byte[] encoded) implements ProposalBatcher.Item {
    private static final int SMALL = 64;

    Item(Command command, Request request) {
      this(command, request, null);
    }

    @Override
    public int bytes() {
      return encoded == null ? SMALL : encoded.length;
    }

    /** The writes of a commit are in it twice. */
    @Override
    public int heapBytes() {
      if (command instanceof Command.Stage stage) {
        return bytes() + stage.part().length;
      }
      return bytes() + (command instanceof Command.Commit commit ? commit.writeSet().length : 0);
    }
  }

  private final LogEntry entry;
  private final List<Item> items;
  private final long term;

  /**
   * @param asked what the last commands of the entry are; the leader may have put some of its own
   *     before them
   */
  EntryMessage(LogEntry entry, List<Item> asked, long term) {
    this.entry = entry;
    this.items = new ArrayList<>(entry.commands().size());
    int own = entry.commands().size() - asked.size();
    entry.commands().subList(0, own).forEach(command -> items.add(new Item(command, null)));
    items.addAll(asked);
    this.term = term;
  }

  LogEntry entry() {
    return entry;
  }

  /** As many as the entry has commands. */
  List<Item> items() {
    return items;
  }

  /** Whether it opens its leader's term. */
  boolean isFirst() {
    return items.get(0).command() instanceof Command.Lead;
  }

  /** The leadership that made it. */
  long term() {
    return term;
  }

  @Override
  public byte[] encode() {
    List<byte[]> commands = new ArrayList<>(items.size());
    items.forEach(item -> commands.add(item.encoded()));
    return CommandCodec.encode(entry, commands);
  }
}
