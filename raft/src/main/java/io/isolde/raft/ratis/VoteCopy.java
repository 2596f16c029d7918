// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.DurableFile;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A second copy of how this node has voted. Ratis 3.3.0 puts half a file in the place of the first
 * one when the disk is full. The copy is written before a vote goes out; what it can lack is a term
 * in which this node has not voted.
 */
final class VoteCopy {
  private static final Logger log = LoggerFactory.getLogger(VoteCopy.class);
  private static final String ORIGINAL = "current/raft-meta";
  private static final String COPY = "raft-meta.copy";

  private final Path original;
  private final Path copy;

  /**
   * @param directory of the group
   */
  VoteCopy(Path directory) {
    original = directory.resolve(ORIGINAL);
    copy = directory.resolve(COPY);
  }

  /** Durable when it returns. A candidate calls it for each of those that it asks, all at once. */
  synchronized void save() throws IOException {
    if (!isWhole(original)) {
      throw new IOException("The file " + original + " was not written: is the disk full?");
    }
    byte[] votes = Files.readAllBytes(original);
    if (!Files.exists(copy) || !Arrays.equals(votes, Files.readAllBytes(copy))) {
      DurableFile.write(copy, votes);
    }
  }

  /** Puts the copy in the place of an original that is not whole. */
  void restore() throws IOException {
    if (!isWhole(original) && isWhole(copy) && Files.isDirectory(original.getParent())) {
      log.warn("The file {} can't be read; it is written again from its copy", original);
      DurableFile.write(original, Files.readAllBytes(copy));
    }
  }

  private static boolean isWhole(Path file) throws IOException {
    if (!Files.exists(file)) {
      return false;
    }
    Properties content = new Properties();
    try {
      String text = Files.readString(file, StandardCharsets.ISO_8859_1);
      content.load(new StringReader(text));
      var unused = Long.parseLong(content.getProperty("term", ""));
      return content.containsKey("votedFor") && text.endsWith("\n");
    } catch (IllegalArgumentException notWhole) {
      return false;
    }
  }
}
