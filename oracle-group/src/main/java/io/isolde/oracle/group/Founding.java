// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Decides when a member that has no log may start with an empty one.
 *
 * <p>A member that lost its disk must not: it may have voted, and taken part in decisions, of which
 * it no longer knows. From the inside it looks like one that never started. So the founders ask one
 * another first. Whoever answers "not founded" writes down beforehand that it has never voted; it
 * may start whenever it likes. Who has neither a log nor that note, and hears that the group
 * exists, has lost its disk.
 */
final class Founding {
  /** What a founder answers to another. */
  enum Reply {
    /** It has no log and has promised that it never had one. */
    NOT_FOUNDED(1),
    /** It has a log. */
    FOUNDED(2),
    /** It is not ready to tell. */
    NOT_YET(3),
    /** It is configured with other founders. */
    OTHER_FOUNDERS(4);

    private final int code;

    Reply(int code) {
      this.code = code;
    }

    ByteBuf writeTo(ByteBuf out) {
      return out.writeByte(code);
    }

    static Reply read(ByteBuf in) {
      int code = in.readByte();
      for (Reply reply : values()) {
        if (reply.code == code) {
          return reply;
        }
      }
      return NOT_YET;
    }
  }

  /** What to do next. */
  enum Step {
    /** Start with the log that is there, or with an empty one. */
    START,
    /** Ask again. */
    WAIT,
    /** Never start: the log is lost. */
    LOG_LOST,
    /** Never start: the founders don't agree on who they are. */
    DISAGREEMENT
  }

  private static final String NOTE = "never-voted";

  private final List<Peer> founders;
  private final Path directory;

  Founding(List<Peer> founders, Path directory) {
    this.founders = sorted(founders);
    this.directory = directory;
  }

  /** Another founder asks. */
  Reply onProbe(List<Peer> itsFounders) {
    if (hasLog(directory)) {
      return Reply.FOUNDED;
    }
    if (!sorted(itsFounders).equals(founders)) {
      return Reply.OTHER_FOUNDERS;
    }
    writeNote();
    return Reply.NOT_FOUNDED;
  }

  /**
   * What to do, given the answers of all other founders.
   *
   * @param replies one for each other founder; {@link Reply#NOT_YET} for one that can't be reached
   */
  Step next(List<Reply> replies) {
    if (hasLog(directory)) {
      return Step.START;
    }
    if (replies.contains(Reply.FOUNDED)) {
      return Files.exists(directory.resolve(NOTE)) ? Step.START : Step.LOG_LOST;
    }
    if (replies.contains(Reply.OTHER_FOUNDERS)) {
      return Step.DISAGREEMENT;
    }
    boolean allNew = replies.stream().allMatch(reply -> reply == Reply.NOT_FOUNDED);
    return allNew ? Step.START : Step.WAIT;
  }

  /** Ratis keeps a directory for each group. */
  static boolean hasLog(Path directory) {
    try (var entries = Files.exists(directory) ? Files.list(directory) : null) {
      return entries != null && entries.anyMatch(Files::isDirectory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void writeNote() {
    try {
      Files.createDirectories(directory);
      Path note = directory.resolve(NOTE);
      if (!Files.exists(note)) {
        Files.writeString(note, "This member has never voted; it may start with an empty log.\n");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ByteBuf writeMembers(ByteBuf out) {
    out.writeByte(founders.size());
    founders.forEach(peer -> Leading.write(out, peer));
    return out;
  }

  static List<Peer> readMembers(ByteBuf in) {
    int count = in.readByte();
    List<Peer> members = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      members.add(Leading.peer(in));
    }
    return members;
  }

  private static List<Peer> sorted(List<Peer> peers) {
    return peers.stream().sorted(Comparator.comparing(Peer::id)).toList();
  }
}
