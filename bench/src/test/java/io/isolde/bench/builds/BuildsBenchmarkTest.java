// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.builds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildsBenchmarkTest {
  private static final NodeSpec SPEC = NodeSpec.standard();

  @TempDir private Path folder;

  private Path jar(String name) throws IOException {
    Path jar = folder.resolve(name);
    Files.createDirectories(jar.getParent());
    return Files.createFile(jar);
  }

  @Test
  void eachBuildHasTheNameOfItsFileAndItsJar() throws IOException {
    Path older = jar("older.jar");
    Map<String, NodeSpec> builds = BuildsBenchmark.builds(SPEC, List.of(older));
    assertThat(builds.keySet()).containsExactly("this", "older");
    assertThat(builds.get("this").pluginJar()).isEmpty();
    assertThat(builds.get("older").pluginJar()).contains(older);
  }

  @Test
  void whenNothingCanBeComparedThenTheErrorSaysWhatToName() {
    assertThatThrownBy(() -> BuildsBenchmark.builds(SPEC, List.of()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("--against");
    assertThatThrownBy(() -> BuildsBenchmark.builds(SPEC, List.of(folder.resolve("gone.jar"))))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("gone.jar");
  }

  @Test
  void whenTwoBuildsHaveOneNameThenTheirFiguresCouldNotBeToldApart() throws IOException {
    Path one = jar("a/isolde.jar");
    Path two = jar("b/isolde.jar");
    Path likeThis = jar("this.jar");
    assertThatThrownBy(() -> BuildsBenchmark.builds(SPEC, List.of(one, two)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("\"isolde\"");
    assertThatThrownBy(() -> BuildsBenchmark.builds(SPEC, List.of(likeThis)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("\"this\"");
  }
}
