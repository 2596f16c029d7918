// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.DurableFile;
import io.isolde.raft.LogDamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at a group's log before Ratis does, which reads what is whole and leaves everything else
 * open when it fails.
 *
 * <ul>
 *   <li>A torn end is cut off: what follows the last whole entry of the file that was written to.
 *       What was not acknowledged is missed by nobody. What was is sent again by the leader; until
 *       then this node votes as if it had it ({@link RatisMember}). The bytes are kept beside the
 *       log.
 *   <li>Anything else is damage: in the files before, in the middle, and files that are missing.
 * </ul>
 */
final class LogCheck {
  private static final Logger log = LoggerFactory.getLogger(LogCheck.class);

  private static final Pattern FILE = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-(\\d+))?");
  private static final String METADATA = "raft-meta";
  private static final String CUT = "cut-from-";

  /** A file of the log: an open one has no end in its name. */
  private record Segment(Path path, long start, Optional<Long> end) {}

  private final Path directory;
  private final Optional<TermIndex> acknowledged;

  private LogCheck(Path directory) throws IOException {
    this.directory = directory;
    this.acknowledged = AcknowledgedEntry.read(directory);
  }

  /**
   * Makes the log one that can be opened.
   *
   * @param directory of the group; need not exist
   * @throws LogDamagedException if it is not what this node has written
   */
  static void prepare(Path directory) throws IOException {
    Path files = directory.resolve("current");
    if (Files.isDirectory(directory)) {
      new VoteCopy(directory).restore();
      new LogCheck(directory).prepare(segments(files), files);
    }
  }

  private static List<Segment> segments(Path files) throws IOException {
    List<Segment> segments = new ArrayList<>();
    if (!Files.isDirectory(files)) {
      return segments;
    }
    try (var paths = Files.list(files)) {
      for (Path path : paths.toList()) {
        Matcher name = FILE.matcher(path.getFileName().toString());
        if (name.matches()) {
          Optional<Long> end = Optional.ofNullable(name.group(2)).map(Long::valueOf);
          segments.add(new Segment(path, Long.parseLong(name.group(1)), end));
        }
      }
    }
    segments.sort(Comparator.comparingLong(Segment::start));
    return segments;
  }

  private void prepare(List<Segment> segments, Path files) throws IOException {
    boolean hasAcknowledged = acknowledged.map(TermIndex::getIndex).orElse(-1L) >= 0;
    if (!Files.exists(files.resolve(METADATA)) && (hasAcknowledged || !segments.isEmpty())) {
      throw new LogDamagedException(
          "The file "
              + METADATA
              + " of the log in "
              + files
              + " is missing: this node does not"
              + " know how it has voted.");
    }
    long next = segments.isEmpty() ? 0 : segments.get(0).start();
    int last = segments.size() - 1;
    for (int i = 0; i <= last; i++) {
      Segment segment = segments.get(i);
      if (segment.start() != next) {
        throw new LogDamagedException(
            "The log in %s has no entries from %d to %d: a file of it is missing."
                .formatted(files, next, segment.start() - 1));
      }
      next = segment.end().isPresent() ? closed(segment, i == last) : open(segment);
    }
  }

  private static long closed(Segment segment, boolean isLast) throws IOException {
    LogFile file = LogFile.read(segment.path());
    long end = segment.end().orElseThrow();
    LogFile.Entries entries = file.entriesFrom(segment.start(), end);
    long next = segment.start() + entries.count();
    if (next == end + 1) {
      return next;
    }
    if (!isLast || entries.count() == 0 || !file.isEmptyFrom(entries.end())) {
      throw damaged(segment, next, file);
    }
    // It was being cut off, as a leader had it; or it has lost its end, like an open one.
    String name = "log_" + segment.start() + "-" + (next - 1);
    DurableFile.rename(segment.path(), segment.path().resolveSibling(name));
    return next;
  }

  private long open(Segment segment) throws IOException {
    LogFile file = LogFile.read(segment.path());
    LogFile.Entries entries = file.entriesFrom(segment.start(), Long.MAX_VALUE);
    long next = segment.start() + entries.count();
    if (!file.isHeaderTorn() && (!file.hasHeader() || !file.isEmptyFrom(entries.end()))) {
      boolean isUnheardOf = acknowledged.filter(last -> last.getIndex() < next).isPresent();
      boolean isTorn =
          file.hasHeader() && (isUnheardOf || !file.hasEntryAfter(entries.end(), next));
      if (acknowledged.isEmpty() || !isTorn) {
        throw damaged(segment, next, file);
      }
      cut(segment, file, entries.end(), next, isUnheardOf);
    }
    if (file.hasHeader()) {
      // An earlier write may have failed to reach the disk, though it can be read.
      long heardOf = acknowledged.map(TermIndex::getIndex).orElse(-1L);
      file.writeAgain(entries.startOf(heardOf + 1), entries.end());
    }
    return next;
  }

  private void cut(Segment segment, LogFile file, int from, long next, boolean isUnheardOf)
      throws IOException {
    Path kept = directory.resolve(CUT + segment.path().getFileName());
    file.moveEnd(from, kept);
    if (isUnheardOf) {
      log.warn(
          "The log in {} was cut before entry {}, in the middle of which this node had stopped;"
              + " nobody has heard of it. The bytes are in {}",
          segment.path(),
          next,
          kept);
    } else {
      log.error(
          "The end of the log in {} is damaged, and was cut before entry {}. This node has"
              + " acknowledged up to {}; it gets that again from the leader, and votes as if it"
              + " had it. Check the disk. The bytes are in {}",
          segment.path(),
          next,
          acknowledged.orElseThrow(),
          kept);
    }
  }

  private static LogDamagedException damaged(Segment segment, long index, LogFile file) {
    String what =
        file.hasHeader() ? "entry " + index + " can't be read" : "it does not begin as a log";
    return new LogDamagedException("The log file " + segment.path() + " is damaged: " + what + ".");
  }
}
