// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.DurableFile;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What a node must not forget of the groups that it has to do with, on another disk than the logs
 * if there is one: of which there is a log, which it is joining, and which it has left. Each is a
 * small file, on disk when the method returns.
 *
 * <p>Who is a member is decided in a group's own log. These only say what this node may do with its
 * part: a node that has left must never found the group again with an empty log, whatever an old
 * layout says. Else its vote would count twice.
 */
public final class ReplicaNotes {
  private static final String JOINING = ".joining";
  private static final String LEFT = ".left";

  /** Moves are given up before. */
  private static final Duration MAX_MOVE = Duration.ofHours(2);

  private final Path folder;

  /** Keeps them in a folder, which is made if it is not there. */
  public ReplicaNotes(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  /** Whether there must be a log. */
  public boolean hasLog(UUID group) {
    return Files.exists(log(group));
  }

  void logMade(UUID group) throws IOException {
    if (!hasLog(group)) {
      write(log(group), "");
    }
  }

  /** Whether this node is to become a member, and perhaps is one, but no layout has said so. */
  public boolean isJoining(UUID group) {
    return Files.exists(joining(group));
  }

  /**
   * Whether that was noted so recently that whoever asked for it may still go on: by the clock of
   * the operating system, which the times of files are from.
   */
  boolean isJoiningLately(UUID group) throws IOException {
    if (!isJoining(group)) {
      return false;
    }
    Instant since = Files.getLastModifiedTime(joining(group)).toInstant();
    return since.isAfter(Instant.now().minus(MAX_MOVE));
  }

  void joining(UUID group, boolean isJoining) throws IOException {
    if (isJoining) {
      write(joining(group), "");
    } else {
      DurableFile.delete(joining(group));
    }
  }

  /** Whether this node was a member, and is none. Only as one that joins may it come back. */
  public boolean hasLeft(UUID group) {
    return Files.exists(left(group)) && !isJoining(group);
  }

  /** Who were the members when this node left; empty if it has not. */
  List<Peer> membersWhenLeft(UUID group) {
    List<Peer> members = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(left(group))) {
        members.add(Peer.parse(line));
      }
    } catch (IOException notLeft) {
      return List.of();
    }
    return members;
  }

  /** Before its log goes. */
  void left(UUID group, List<Peer> members) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (Peer member : members) {
      lines.append(member.toLine()).append('\n');
    }
    write(left(group), lines.toString());
  }

  /**
   * The log is about to go. A log without a note is of no use; a note without a log is an alarm.
   */
  void logGone(UUID group) throws IOException {
    DurableFile.delete(joining(group));
    DurableFile.delete(log(group));
  }

  void cameBack(UUID group) throws IOException {
    DurableFile.delete(left(group));
  }

  /** There is no such group any more. */
  void forget(UUID group) throws IOException {
    logGone(group);
    cameBack(group);
  }

  private Path log(UUID group) {
    return folder.resolve(group.toString());
  }

  private Path joining(UUID group) {
    return folder.resolve(group + JOINING);
  }

  private Path left(UUID group) {
    return folder.resolve(group + LEFT);
  }

  private static void write(Path file, String content) throws IOException {
    DurableFile.write(file, content.getBytes(StandardCharsets.UTF_8));
  }
}
