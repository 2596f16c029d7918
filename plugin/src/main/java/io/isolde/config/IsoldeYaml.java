// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import io.isolde.config.IsoldeConfig.ConfigurationException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.cassandra.config.DataStorageSpec;
import org.apache.cassandra.config.DurationSpec;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** Reads {@code isolde.yaml}. Sizes and durations are written as in {@code cassandra.yaml}. */
final class IsoldeYaml {
  /** What the file says and has not been asked for yet. */
  private final Map<String, Object> settings;

  private IsoldeYaml(Map<String, Object> settings) {
    this.settings = settings;
  }

  /**
   * Reads the file.
   *
   * @param location a path or a file: URI; null for the defaults
   */
  static IsoldeConfig load(String location) {
    if (location == null) {
      return parse("");
    }
    Path path = location.startsWith("file:") ? Path.of(URI.create(location)) : Path.of(location);
    try {
      return parse(Files.readString(path));
    } catch (IOException e) {
      throw new ConfigurationException("The file " + path + " cannot be read: " + e + ".");
    }
  }

  static IsoldeConfig parse(String yaml) {
    return parse(yaml, HeapBudget.ofThisNode());
  }

  /**
   * Parses a file.
   *
   * @param heap what some defaults come from
   */
  static IsoldeConfig parse(String yaml, HeapBudget heap) {
    IsoldeYaml file = new IsoldeYaml(settings(yaml));
    IsoldeConfig config = IsoldeConfig.of(file, heap);
    if (!file.settings.isEmpty()) {
      throw new ConfigurationException(
          "There is no setting named "
              + file.settings.keySet().iterator().next()
              + "; correct or remove its line.");
    }
    return config;
  }

  private static Map<String, Object> settings(String yaml) {
    Object root;
    try {
      root = new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
    } catch (YAMLException e) {
      throw new ConfigurationException("The file is not YAML: " + e.getMessage() + ".");
    }
    Map<String, Object> settings = new LinkedHashMap<>();
    if (root == null) {
      return settings;
    }
    if (!(root instanceof Map<?, ?> map)) {
      throw new ConfigurationException("The file must consist of lines like 'setting: value'.");
    }
    map.forEach((name, value) -> settings.put(String.valueOf(name), value));
    return settings;
  }

  long bytes(String name, long byDefault) {
    return value(
        name, byDefault, "a size like 64MiB", v -> new DataStorageSpec.LongBytesBound(v).toBytes());
  }

  long millis(String name, String byDefault) {
    return value(name, duration(byDefault), "a duration like 30s", IsoldeYaml::duration);
  }

  long micros(String name, String byDefault) {
    return 1000 * millis(name, byDefault);
  }

  private static long duration(String value) {
    return new DurationSpec.LongMillisecondsBound(value).toMilliseconds();
  }

  int count(String name, int byDefault) {
    return value(name, byDefault, "a whole number", Integer::parseInt);
  }

  /** Whether the setting has its first value, which is the default, and not the second. */
  boolean choice(String name, String byDefault, String other) {
    return value(
        name,
        true,
        "either " + byDefault + " or " + other,
        v -> {
          if (!v.equals(byDefault) && !v.equals(other)) {
            throw new IllegalArgumentException(v);
          }
          return v.equals(byDefault);
        });
  }

  /** One of some words, of which the first is the default. */
  String oneOf(String name, String... words) {
    return value(
        name,
        words[0],
        "one of " + String.join(", ", words),
        v -> {
          String word = v.equals("false") ? "off" : v; // YAML takes a bare off for false.
          if (!Arrays.asList(words).contains(word)) {
            throw new IllegalArgumentException(v);
          }
          return word;
        });
  }

  String text(String name, String byDefault) {
    return value(name, byDefault, "a text", v -> v);
  }

  List<String> list(String name) {
    return value(name, List.of(), "a list like a, b, c", IsoldeYaml::parts);
  }

  private static List<String> parts(String value) {
    List<String> parts =
        Arrays.stream(value.replaceAll("[\\[\\]]", "").split(","))
            .map(String::strip)
            .filter(part -> !part.isEmpty())
            .toList();
    if (parts.isEmpty() && !value.equals("[]")) {
      throw new IllegalArgumentException("an empty list says nothing");
    }
    return parts;
  }

  private <T> T value(String name, T byDefault, String kind, Function<String, T> parse) {
    Object value = settings.remove(name);
    if (value == null) {
      return byDefault;
    }
    try {
      return parse.apply(String.valueOf(value));
    } catch (RuntimeException e) {
      throw new ConfigurationException(name + " must be " + kind + ", not '" + value + "'.");
    }
  }
}
