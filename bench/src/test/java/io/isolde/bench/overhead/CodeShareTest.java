// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.text.ParseException;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodeShareTest {
  @TempDir Path folder;

  @Test
  void whenOneThingIsDoneAllTheTimeThenItHasMostSamplesAndOtherPackagesHaveNone() throws Exception {
    Path file = folder.resolve("r.jfr");
    double[] sum = new double[1];
    try (Recording recording = new Recording(profile())) {
      recording.start();
      long end = System.nanoTime() + 2_000_000_000L;
      while (System.nanoTime() < end) {
        sum[0] += Math.sin(sum[0] + 1);
      }
      recording.stop();
      recording.dump(file);
    }
    CodeShare.Seen here = CodeShare.read(file, "io.isolde.bench.overhead");
    assertThat(here.samples()).isPositive();
    assertThat(here.percent()).isGreaterThan(50);
    assertThat(CodeShare.read(file, "io.isolde.bench.over").within()).isZero();
  }

  private static Configuration profile() throws IOException, ParseException {
    return Configuration.getConfiguration("profile");
  }
}
