// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.cluster.NodeSpec;
import io.isolde.torture.reads.ClusterGround;
import io.isolde.torture.reads.ReadsTrial;
import io.isolde.torture.reads.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/** Tables of random shapes, some at a time, until the time is over or an answer is wrong. */
final class ReadsTorture {
  private static final int TABLES_PER_EPOCH = 12;
  private static final String FIRST_OF_LOOPBACK = "127.0.64.1";

  private ReadsTorture() {}

  static TortureReport run(TortureOptions options, Path folder, Consumer<String> out) {
    long start = System.nanoTime();
    List<EpochResult> results = new ArrayList<>();
    NodeSpec node =
        NodeSpec.standard()
            .withAddress(FIRST_OF_LOOPBACK)
            .withHeapMegabytes(options.heapMegabytes())
            .withEphemeral(true);
    out.accept("Seed %d: a cluster of %d nodes".formatted(options.seed(), options.nodes()));
    try (ClusterGround ground =
        ClusterGround.start(
            folder,
            options.nodes(),
            options.commitLogSync().of(node),
            progress -> out.accept("  " + progress))) {
      Random random = new Random(options.seed());
      boolean isFine = true;
      while (isFine && System.nanoTime() - start < options.duration().toNanos()) {
        List<Verdict> verdicts = ReadsTrial.run(ground, random.longs(TABLES_PER_EPOCH).toArray());
        EpochResult result = result(results.size() + 1, verdicts);
        results.add(result);
        out.accept(TortureReport.line(result));
        result.violations().forEach(out);
        isFine = result.violations().isEmpty();
      }
    }
    return new TortureReport(options, Duration.ofNanos(System.nanoTime() - start), results);
  }

  private static EpochResult result(int number, List<Verdict> verdicts) {
    int cutShort = (int) verdicts.stream().filter(each -> each.trouble().isPresent()).count();
    return new EpochResult(
        number,
        "reads of %d tables".formatted(verdicts.size()),
        "all levels",
        List.of("two nodes miss writes"),
        verdicts.stream().mapToInt(Verdict::compared).sum(),
        cutShort,
        0,
        Map.of(),
        0,
        true,
        Verdict.differences(verdicts));
  }
}
