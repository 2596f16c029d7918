// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cql.IsoldeQueryHandler;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.apache.cassandra.config.CassandraRelevantProperties;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.io.sstable.format.SSTableFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the jar alone makes Isolde the query handler of a node. */
class IsoldeFormatFactoryTest {
  private static final CassandraRelevantProperties HANDLER =
      CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS;
  private static final int JAVA_17 = 17;

  private final SSTableFormat<?, ?> format = new IsoldeFormatFactory().getInstance(Map.of());

  private String before;

  @BeforeEach
  void rememberTheHandler() {
    before = HANDLER.getString();
    HANDLER.clearValue();
  }

  @AfterEach
  void restoreTheHandler() {
    HANDLER.clearValue();
    if (before != null) {
      HANDLER.setString(before);
    }
  }

  @Test
  void whenCassandraLooksForFormatsThenItFindsOursBesideItsOwn() {
    assertThat(ServiceLoader.load(SSTableFormat.Factory.class))
        .extracting(SSTableFormat.Factory::name)
        .contains("big", "bti", "isolde");
  }

  @Test
  void whenAToolOrAClientAsksForTheNameThenNoHandlerIsSet() {
    assertThat(new IsoldeFormatFactory().name()).isEqualTo("isolde");
    // Other tests may have made this process a node.
    assertThat(HANDLER.getString() != null).isEqualTo(DatabaseDescriptor.isDaemonInitialized());
  }

  @Test
  void whenNoHandlerOrOursIsSetThenItIsOurs() {
    IsoldeFormatFactory.install(JAVA_17);
    assertThat(HANDLER.getString()).isEqualTo(IsoldeQueryHandler.class.getName());
    IsoldeFormatFactory.install(JAVA_17);
    assertThat(HANDLER.getString()).isEqualTo(IsoldeQueryHandler.class.getName());
  }

  @Test
  void whenAnotherHandlerIsSetThenTheStartIsRefusedWithoutAStackTrace() {
    HANDLER.setString("com.example.Mine");
    assertThatThrownBy(() -> IsoldeFormatFactory.install(JAVA_17))
        .isInstanceOfSatisfying(
            ConfigurationException.class, e -> assertThat(e.logStackTrace).isFalse())
        .hasMessageContaining("-Dcassandra.custom_query_handler_class=com.example.Mine")
        .hasMessageContaining("Take this option away");
    assertThat(HANDLER.getString()).isEqualTo("com.example.Mine");
  }

  @Test
  void whenJavaIsTooOldThenTheStartIsRefusedWithWhatIsNeeded() {
    assertThatThrownBy(() -> IsoldeFormatFactory.install(11))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageStartingWith("Isolde needs Java 17, and this is Java 11: start Cassandra with");
    assertThat(HANDLER.getString()).isNull();
  }

  /** Alone: a class of Isolde for Java 17 could not be loaded. */
  @Test
  void whenCompiledForJava11ThenTheFactoryNeedsNothingElseOfIsolde(@TempDir Path folder)
      throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String others =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> entry.endsWith(".jar"))
            .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("isolde"))
            .collect(Collectors.joining(File.pathSeparator));
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of("--release", "11", "-proc:none", "-d", folder.toString(), "-cp", others);
      Path sources = Path.of("src/main/java/io/isolde/install");
      Iterable<? extends JavaFileObject> both =
          files.getJavaFileObjects(
              sources.resolve("IsoldeFormatFactory.java"), sources.resolve("NoFormat.java"));
      assertThat(compiler.getTask(null, files, null, options, null, both).call()).isTrue();
    }
  }

  @Test
  void whenAllFormatsAreAskedThenOursHasNoFilesAndNoMetrics() {
    assertThat(format.name()).isEqualTo("isolde");
    assertThat(format.allComponents()).isEmpty();
    assertThat(format.getFormatSpecificMetricsProviders().getGaugeProviders()).isEmpty();
    assertThat(Set.of(format).contains(format)).isTrue();
    assertThat(format).isNotEqualTo(new IsoldeFormatFactory().getInstance(Map.of()));
  }

  @Test
  void whenItIsChosenForWritingThenItRefusesAndNamesTheSetting() {
    assertThatThrownBy(format::getLatestVersion)
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("set selected_format in cassandra.yaml to big or bti");
    assertThatThrownBy(format::getWriterFactory).isInstanceOf(ConfigurationException.class);
  }
}
