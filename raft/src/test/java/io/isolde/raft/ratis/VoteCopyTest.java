// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VoteCopyTest {
  private static final int TERMS = 100;
  private static final int PEERS = 4;

  @TempDir Path directory;

  @Test
  void whenACandidateAsksSeveralAtOnceThenTheCopyIsWrittenForAll() throws Exception {
    Path original = Files.createDirectories(directory.resolve("current")).resolve("raft-meta");
    VoteCopy votes = new VoteCopy(directory);
    ExecutorService threads = Executors.newFixedThreadPool(PEERS);
    try {
      for (int term = 1; term <= TERMS; term++) {
        Files.writeString(original, "term=" + term + "\nvotedFor=n1\n");
        CyclicBarrier together = new CyclicBarrier(PEERS);
        Callable<Void> save =
            () -> {
              together.await();
              votes.save();
              return null;
            };
        List<Future<Void>> saved = new ArrayList<>();
        for (int peer = 0; peer < PEERS; peer++) {
          saved.add(threads.submit(save));
        }
        for (Future<Void> one : saved) {
          one.get();
        }
        assertThat(directory.resolve("raft-meta.copy")).hasSameTextualContentAs(original);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
