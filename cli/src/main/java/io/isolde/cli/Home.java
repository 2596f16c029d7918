// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.LocalCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The option {@code --home}: where clusters live, and which there are. */
final class Home {

  /** The cluster of one node that {@code isolde start} runs. */
  static final String DEVELOPMENT = "dev";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]*");

  @Option(
      names = "--home",
      paramLabel = "FOLDER",
      defaultValue = "${sys:isolde.home:-.isolde}",
      description = "Where clusters live. Default: .isolde in the folder of the script.",
      showDefaultValue = Visibility.NEVER)
  private Path folder;

  @Spec(Target.MIXEE)
  private CommandSpec command;

  Path folder() {
    return folder;
  }

  /** Returns where a cluster lives or would live. */
  Path folderOf(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new ParameterException(
          command.commandLine(),
          "\"%s\" is not a name for a cluster: it takes letters, digits, - and _ only."
              .formatted(name));
    }
    return name.equals(DEVELOPMENT) ? folder.resolve(name) : clusters().resolve(name);
  }

  /** Opens an existing cluster. */
  LocalCluster open(String name) {
    return LocalCluster.open(folderOf(name));
  }

  /** Returns all clusters, the development node first. */
  List<LocalCluster> all() {
    List<Path> folders = new ArrayList<>();
    folders.add(folder.resolve(DEVELOPMENT));
    if (Files.isDirectory(clusters())) {
      try (Stream<Path> found = Files.list(clusters())) {
        folders.addAll(found.sorted().toList());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return folders.stream().filter(LocalCluster::exists).map(LocalCluster::open).toList();
  }

  private Path clusters() {
    return folder.resolve("clusters");
  }
}
