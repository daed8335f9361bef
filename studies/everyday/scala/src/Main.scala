package robots

import scala.io.Source

object Mission:
  def step(robot: Option[Robot], line: String): Option[Robot] =
    line.trim.split(" ").toList match
      case List("place", x, y) => Some(Robot(x.toInt, y.toInt, Facing.North))
      case List("forward", steps) => robot.map(_.forward(steps.toInt))
      case List("left") => robot.map(_.left)
      case List("right") => robot.map(_.right)
      case _ => robot

  def run(lines: Iterator[String]): Option[Robot] = lines.foldLeft(Option.empty[Robot])(step)

@main def drive(file: String): Unit =
  val source = Source.fromFile(file)
  try
    Mission.run(source.getLines()) match
      case Some(robot) => println(s"${robot.x} ${robot.y} ${robot.facing} after ${robot.path.size} moves")
      case None => println("no robot")
  finally source.close()
