package robots

enum Facing(val dx: Int, val dy: Int):
  case North extends Facing(0, 1)
  case East extends Facing(1, 0)
  case South extends Facing(0, -1)
  case West extends Facing(-1, 0)

  def turned(quarters: Int): Facing = Facing.fromOrdinal((ordinal + quarters) % 4)

final case class Robot(x: Int, y: Int, facing: Facing, path: List[(Int, Int)] = Nil):
  def forward(steps: Int): Robot =
    copy(x = x + facing.dx * steps, y = y + facing.dy * steps, path = (x, y) :: path)
  def left: Robot = copy(facing = facing.turned(-1))
  def right: Robot = copy(facing = facing.turned(1))
