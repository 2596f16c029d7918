// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.nodes.ChildProcess;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The processes of peers have the peers' jars, and of Isolde only what they are given. */
class ForeignClassPathTest {

  @ParameterizedTest
  @ValueSource(classes = {ScalarDbMain.class, ScalarDbTransfers.class, OmidMain.class})
  void whenAPeersProcessStartsThenItsClassesAreThere(Class<?> main) throws Exception {
    List<URL> places = new ArrayList<>();
    for (String place : ChildProcess.here().split(File.pathSeparator, -1)) {
      places.add(url(place));
    }
    for (String place : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!isOfIsolde(Path.of(place))) {
        places.add(url(place));
      }
    }
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(places.toArray(URL[]::new), platform)) {
      Class<?> loaded = Class.forName(main.getName(), true, loader);
      assertThat(loaded).isNotSameAs(main);
      // What the virtual machine resolves of a main class before it starts it.
      assertThat(loaded.getDeclaredMethods()).isNotEmpty();
    }
  }

  private static URL url(String place) throws MalformedURLException {
    return Path.of(place).toUri().toURL();
  }

  private static boolean isOfIsolde(Path place) {
    return Files.isDirectory(place)
        ? Files.isDirectory(place.resolve("io/isolde"))
        : Stream.of("isolde-", "isolde.").anyMatch(place.getFileName().toString()::startsWith);
  }
}
